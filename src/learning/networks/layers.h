#pragma once

#include <priornet/learning/network.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <optional>

// A convolution with everything that follows it up to the next one. On a GPU, if values lie channels-last and their
// channels are a multiple of 8, what follows is one pass over memory (batch norm: two), forward and backward; otherwise
// LibTorch's operations run one by one. Convolutions are padded by half their side.

namespace priornet {

/// max(x, slope x): ReLU with a slope of 0, x itself with 1. In place, for values that no other code has seen: most of
/// the cost of an activation is memory.
torch::Tensor activated(torch::Tensor values, double slope);

/// max(x, slope x) of the convolution, with its bias if it has one.
torch::Tensor convolved(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope);

/// The same for a convolution without a stride, then the largest value of each 2x2 square.
torch::Tensor convolved_and_pooled(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope);

/// max(x, slope x) of the batch norm of the values, plus `residual` where it is defined. A slope of 1 leaves x as it
/// is.
torch::Tensor normed(const torch::Tensor& values, torch::nn::BatchNorm2d& norm, double slope,
                     const torch::Tensor& residual = {});

/// The same for the convolution, which has no bias.
torch::Tensor convolved_and_normed(const torch::Tensor& inputs, torch::nn::Conv2d& convolution,
                                   torch::nn::BatchNorm2d& norm, double slope, const torch::Tensor& residual = {});

/// The values twice, for two layers that read them: on a GPU one pass fewer adds up their gradients if normed() made
/// the values.
std::pair<torch::Tensor, torch::Tensor> forked(const torch::Tensor& values);

// The layers that our networks are made of. Each is a description first; make_weights() gives it its modules.

/// A slope, below 0, that stands for no activation: values stay as they are.
constexpr double kNoActivation = 1.0;

/// The gain that keeps the size of values behind a leaky rectifier of this slope (He et al., 2015): 2 / (1 + slope^2).
constexpr double he_gain(double slope) { return 2.0 / (1.0 + slope * slope); }

/// The same for a layer without an activation.
constexpr double kLastGain = 1.0;

/// Normal with standard deviation sqrt(gain / fan in). weight: [out, in] or [out, in, height, width].
void initialise_normal(torch::Tensor weight, double gain, at::Generator generator);

/// a * b of sizes of at least 0. ArgumentError if it does not fit into 64 bits.
int64_t size_product(int64_t a, int64_t b);

/// Throws ArgumentError, in the name of `network`, unless `input` is [channels, height, width].
void check_image(const char* network, const std::vector<int64_t>& input);

/// Throws ArgumentError, in the name of `network`, unless there is a group of blocks, each of at least 1 channel.
void check_groups(const char* network, const std::vector<int64_t>& channels);

/// Throws ArgumentError, in the name of `network`, unless each is in (0, 1].
void check_keep(const char* network, const char* option, double keep);

class ScaleLayer : public Layer {
 public:
  explicit ScaleLayer(double factor) : factor_(factor) {}
  std::string label() const override;
  Shape output_shape(const Shape& input) const override { return input; }
  Size size(const Shape&) const override { return {}; }
  torch::Tensor forward(const torch::Tensor& x) override { return x * factor_; }
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override;

 private:
  double factor_;
};

/// (value - mean) / deviation per channel of values in [0, 1], which come in [-1, 1].
class NormaliseLayer : public Layer {
 public:
  NormaliseLayer(std::vector<double> mean, std::vector<double> deviation)
      : mean_(std::move(mean)), deviation_(std::move(deviation)) {}
  std::string label() const override { return "normalise"; }
  Shape output_shape(const Shape& input) const override;
  Size size(const Shape&) const override { return {}; }
  void make_weights(const at::Generator&) override;
  Modules modules() const override { return {{"", numbers_}}; }
  torch::Tensor forward(const torch::Tensor& x) override;
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override;

 private:
  std::vector<double> mean_, deviation_;
  std::shared_ptr<torch::nn::Module> numbers_;  ///< of a batch norm that never changes, in [-1, 1] units
};

class FlattenLayer : public Layer {
 public:
  std::string label() const override { return "flatten"; }
  Shape output_shape(const Shape& input) const override;
  Size size(const Shape&) const override { return {}; }
  torch::Tensor forward(const torch::Tensor& x) override { return x.flatten(1); }
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override { return writer.flatten(x); }
};

/// The mean of each channel over the image.
class ImageMeanLayer : public Layer {
 public:
  std::string label() const override { return "mean over the image"; }
  Shape output_shape(const Shape& input) const override { return {input.at(0)}; }
  Size size(const Shape&) const override { return {}; }
  torch::Tensor forward(const torch::Tensor& x) override { return x.mean({2, 3}); }
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override { return writer.image_mean(x); }
};

/// The largest value of each square; squares overlap if the stride is shorter than their side.
class MaxPoolLayer : public Layer {
 public:
  MaxPoolLayer(int64_t side, LayerWriter::Window window) : side_(side), window_(window) {}
  std::string label() const override;
  Shape output_shape(const Shape& input) const override;
  Size size(const Shape&) const override { return {}; }
  torch::Tensor forward(const torch::Tensor& x) override;
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override;

 private:
  int64_t side_;
  LayerWriter::Window window_;
};

class DropoutLayer : public Layer {
 public:
  explicit DropoutLayer(double keep) : keep_(keep) {}
  std::string label() const override;
  Shape output_shape(const Shape& input) const override { return input; }
  Size size(const Shape&) const override { return {}; }
  void make_weights(const at::Generator&) override { dropout_ = torch::nn::Dropout(1.0 - keep_); }
  Modules modules() const override { return {{"", dropout_.ptr()}}; }
  torch::Tensor forward(const torch::Tensor& x) override { return dropout_->forward(x); }
  bool drops() const override { return true; }
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override;

 private:
  double keep_;
  torch::nn::Dropout dropout_ = nullptr;
};

/// max(x, slope x) of a dense layer.
struct DenseOptions {
  int64_t inputs = 1;
  int64_t units = 1;
  double slope = kNoActivation;
  std::optional<double> gain;  ///< weights start normal, biases at 0; none: both uniform on +-1 / sqrt(inputs)
  const char* name = "dense";  ///< for people
};

class DenseLayer : public Layer {
 public:
  explicit DenseLayer(const DenseOptions& options) : options_(options) {}
  std::string label() const override;
  Shape output_shape(const Shape& input) const override;
  Size size(const Shape& input) const override;
  void make_weights(const at::Generator& generator) override;
  Modules modules() const override { return {{"", linear_.ptr()}}; }
  torch::Tensor forward(const torch::Tensor& x) override;
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override;

 private:
  DenseOptions options_;
  torch::nn::Linear linear_ = nullptr;
};

/// Wraps the last layer of a network that counts evidence: ln(prior + e^x) instead of x, so that alpha = prior + e^x.
class EvidenceLayer : public Layer {
 public:
  EvidenceLayer(std::shared_ptr<Layer> inner, double prior);
  std::string label() const override;
  Shape output_shape(const Shape& input) const override { return inner_->output_shape(input); }
  Size size(const Shape& input) const override { return inner_->size(input); }
  void make_weights(const at::Generator& generator) override { inner_->make_weights(generator); }
  Modules modules() const override { return inner_->modules(); }
  torch::Tensor forward(const torch::Tensor& x) override;
  bool drops() const override { return inner_->drops(); }
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override;

 private:
  std::shared_ptr<Layer> inner_;
  double prior_;
  double least_;  ///< ln prior
};

/// The last layer of a plan, from a row of features to logits.
std::shared_ptr<Layer> logits_layer(const NetworkPlan& plan);

/// How residual networks end: the mean of each channel over the image, dropout unless `keep` is 1, logits.
void add_pooled_logits(NetworkPlan& plan, double keep);

/// max(x, slope x) of a convolution and, if `norm`, its batch norm; `pooled`: then the largest value of each 2x2
/// square. It is padded by half its side. Weights start normal; without batch norm, biases start at 0.
struct ConvolutionOptions {
  int64_t from = 1;
  int64_t to = 1;
  int64_t side = 3;
  int64_t stride = 1;
  bool norm = false;
  bool bias = true;  ///< none with batch norm, which has its own
  double slope = 0.0;
  double gain = he_gain(0.0);
  bool pooled = false;
};

class ConvolutionLayer : public Layer {
 public:
  explicit ConvolutionLayer(const ConvolutionOptions& options) : options_(options) {}
  std::string label() const override;
  Shape output_shape(const Shape& input) const override;
  Size size(const Shape& input) const override;
  void make_weights(const at::Generator& generator) override;
  Modules modules() const override;
  torch::Tensor forward(const torch::Tensor& x) override { return forward_with(x, {}); }
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override;

  /// forward() with `residual` added before the activation; undefined: nothing. Only with batch norm, not pooled.
  torch::Tensor forward_with(const torch::Tensor& x, const torch::Tensor& residual);
  /// Everything before the activation.
  LayerWriter::Value write_before_activation(LayerWriter& writer, LayerWriter::Value x) const;
  const ConvolutionOptions& options() const { return options_; }

 private:
  Shape convolved_shape(const Shape& input) const;

  ConvolutionOptions options_;
  torch::nn::Conv2d convolution_ = nullptr;
  torch::nn::BatchNorm2d norm_ = nullptr;
};

/// Convolutions with batch norm one after the other, named first, second, third. The input is added before the
/// activation of the last; if its shape changes, it first goes through one more convolution, named shortcut.
class ResidualLayer : public Layer {
 public:
  ResidualLayer(const std::vector<ConvolutionOptions>& inner, const std::optional<ConvolutionOptions>& shortcut);
  std::string label() const override;
  Shape output_shape(const Shape& input) const override;
  Size size(const Shape& input) const override;
  void make_weights(const at::Generator& generator) override;
  Modules modules() const override { return {{"", block_}}; }
  torch::Tensor forward(const torch::Tensor& x) override;
  LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const override;

 private:
  std::vector<ConvolutionLayer> inner_;
  std::optional<ConvolutionLayer> shortcut_;
  std::shared_ptr<torch::nn::Module> block_;
};

/// What an export needs of a batch norm.
LayerWriter::BatchNorm written(const torch::nn::BatchNorm2d& norm);

}  // namespace priornet
