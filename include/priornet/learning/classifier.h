#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// A classifier maps inputs to logits. Training, evaluation, calibration, prediction, serving and model files work with
// classifiers. Our networks (network.h), the user's own torch::nn::Module (as_classifier()) and a TorchScript file
// (make_model() with ModelOptions::file) are classifiers; for another kind, derive from Classifier.

namespace priornet {

/// One row of a network's description.
struct LayerSummary {
  std::string name;             ///< the layer's label
  std::vector<int64_t> output;  ///< of one input
  int64_t parameters = 0;
  int64_t multiply_adds = 0;  ///< for one input
};

/// What one pass of a classifier gives.
struct Activations {
  torch::Tensor logits;               ///< [N, K]
  torch::Tensor features;             ///< [N, F]; undefined unless gives_features()
  std::vector<torch::Tensor> layers;  ///< channel_moments of maps inside; none unless asked for and gives_layers()
};

/// The mean and the root mean square of each channel over the pixels of maps [N, C, H, W]: float32 [N, 2 C].
torch::Tensor channel_moments(const torch::Tensor& maps);

/// Maps inputs [N, ...] to logits [N, K]. Images come as float32 in [-1, 1], rows of numbers as they were standardised.
/// Parameters and buffers that are registered as torch::nn::Module asks are trained, stored and moved.
class Classifier : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;

  /// ArgumentError for inputs of another shape than [N, input_shape()...].
  virtual torch::Tensor forward(const torch::Tensor& inputs) = 0;
  virtual const std::vector<int64_t>& input_shape() const = 0;  ///< of one input
  virtual int64_t classes() const = 0;

  /// Whether forward() is from_features(features()): features [N, F] are what the last layers make logits of. Detectors
  /// look at them, and training.freeze trains the last layers alone.
  virtual bool gives_features() const { return false; }
  /// [N, ...] to [N, F]. ArgumentError unless gives_features().
  virtual torch::Tensor features(const torch::Tensor& inputs);
  /// [N, F] to logits [N, K]. ArgumentError unless gives_features().
  virtual torch::Tensor from_features(const torch::Tensor& features);
  /// The parameters of from_features(); empty unless gives_features().
  virtual std::vector<torch::Tensor> last_parameters() const { return {}; }

  /// Whether activations() can look at maps inside.
  virtual bool gives_layers() const { return false; }
  /// forward() together with the features and, if `layers`, the layers that it computes on its way.
  virtual Activations activations(const torch::Tensor& inputs, bool layers);

  /// Whether two passes with dropout on differ: a torch::nn::Dropout is among its modules.
  virtual bool has_dropout() const;
  /// forward() in two parts: up to the first dropout, the same in every pass, and from there on.
  virtual torch::Tensor before_dropout(const torch::Tensor& inputs) { return inputs; }
  virtual torch::Tensor from_dropout(const torch::Tensor& values) { return forward(values); }

  /// Whether its training step may be recorded as a CUDA graph: the host never waits for a computed value.
  virtual bool can_be_recorded() const { return false; }

  /// The part of the classifier that is a program and not weights, as bytes (uint8 [B]). A model file that holds one is
  /// marked, and is opened only if the user allows it. Undefined for a classifier that this library makes by name.
  virtual torch::Tensor program() const { return {}; }

  /// For people. Unless overridden: one row.
  virtual std::vector<LayerSummary> describe() const;
};

/// Any torch::nn::Module as a classifier.
struct ModuleOptions {
  std::vector<int64_t> input_shape;  ///< of one input
  int64_t classes = 0;
  std::function<torch::Tensor(const torch::Tensor& inputs)> forward;
  /// Both or none: forward() in two parts, for detectors and training.freeze.
  std::function<torch::Tensor(const torch::Tensor& inputs)> features;
  std::function<torch::Tensor(const torch::Tensor& features)> from_features;
  std::vector<torch::Tensor> last_parameters;  ///< of from_features
};

/// The module becomes a part of the classifier, named `module`. ArgumentError unless there are at least 2 classes and a
/// forward function.
std::shared_ptr<Classifier> as_classifier(std::shared_ptr<torch::nn::Module> module, ModuleOptions options);

/// The same for a holder whose forward() takes and gives one tensor:
///   auto classifier = as_classifier(MyNet(10), {3, 32, 32}, 10);
template <class Holder>
std::shared_ptr<Classifier> as_classifier(Holder module, std::vector<int64_t> input_shape, int64_t classes) {
  return as_classifier(module.ptr(),
                       {.input_shape = std::move(input_shape),
                        .classes = classes,
                        .forward = [module](const torch::Tensor& x) mutable { return module->forward(x); },
                        .features = {},
                        .from_features = {},
                        .last_parameters = {}});
}

/// Stores the weights of convolutions channels-last, which multiplies fastest; inputs should be channels-last too.
void to_channels_last(Classifier& classifier);

/// The sum over the rows of describe(), for one input; a training step takes three times as many. 0 if unknown.
int64_t multiply_adds(const Classifier& classifier);

/// How many trainable numbers a module has.
int64_t parameter_count(const torch::nn::Module& module);

}  // namespace priornet
