#pragma once

#include <ATen/core/Generator.h>
#include <priornet/learning/classifier.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

// A network is a list of layers. You can write your own layer: it says what it gives and how large it is before it has
// weights, makes the weights, computes, and writes itself for other runtimes. Our own layers
// (learning/networks/layers.h) have no privileges.
//
//   NetworkPlan plan({3, 32, 32}, 10);
//   plan.add("mine", std::make_shared<MyLayer>(...));
//   ...
//   Network network(std::move(plan), make_generator(1));

namespace priornet {

/// A layer writes itself here, operator by operator. Values are handles from the writer; tensors are parameters or
/// buffers of the layer's modules.
class LayerWriter {
 public:
  using Value = size_t;
  virtual ~LayerWriter() = default;

  struct BatchNorm {
    torch::Tensor weight, bias, mean, variance;
    double epsilon = 0.0;
  };
  /// The same number for height and width.
  struct Window {
    int64_t stride = 1;
    int64_t padding = 0;
  };

  /// weight: [to, from, side, side]; bias: [to], or undefined.
  virtual Value convolution(Value x, const torch::Tensor& weight, const torch::Tensor& bias, Window window) = 0;
  virtual Value batch_norm(Value x, const BatchNorm& norm) = 0;
  /// weight: [to, from]; bias: [to].
  virtual Value dense(Value x, const torch::Tensor& weight, const torch::Tensor& bias) = 0;
  /// max(x, slope x); a slope of 1 writes nothing.
  virtual Value rectifier(Value x, double slope) = 0;
  virtual Value max_pool(Value x, int64_t side, Window window) = 0;
  /// [N, C, H, W] to [N, C].
  virtual Value image_mean(Value x) = 0;
  /// [N, ...] to [N, F].
  virtual Value flatten(Value x) = 0;
  virtual Value scale(Value x, double factor) = 0;
  virtual Value add(Value a, Value b) = 0;
  /// ln(e^least + e^x): a smooth maximum of the two.
  virtual Value smooth_at_least(Value x, double least) = 0;
  /// Each value is kept with this probability, and divided by it; writes nothing if dropout is off.
  virtual Value dropout(Value x, double keep) = 0;
};

/// One layer. Shapes are of one input, without N.
class Layer {
 public:
  using Shape = std::vector<int64_t>;
  /// Modules with the names that the network registers them under: "" is the layer's own name, "_norm" is that name
  /// with _norm behind it.
  using Modules = std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>>;
  /// In floating point, so that huge sizes do not overflow.
  struct Size {
    double parameters = 0.0;     ///< trainable numbers
    double multiply_adds = 0.0;  ///< of convolutions and dense layers, for one input
  };

  virtual ~Layer() = default;

  /// For people: "conv 3x3, 64".
  virtual std::string label() const = 0;
  /// ArgumentError for an input that it cannot take.
  virtual Shape output_shape(const Shape& input) const = 0;
  /// Known before there are weights.
  virtual Size size(const Shape& input) const = 0;
  /// Draws from the generator alone. Called once, before forward(); a layer without weights does nothing.
  virtual void make_weights(const at::Generator& generator);
  /// Empty before make_weights().
  virtual Modules modules() const { return {}; }

  /// [N, input...] to [N, output...].
  virtual torch::Tensor forward(const torch::Tensor& x) = 0;
  /// Whether it holds dropout (a torch::nn::Dropout among its modules), so that two passes differ.
  virtual bool drops() const { return false; }
  /// Writes what forward() computes in evaluation. The default throws ArgumentError, which names the layer.
  virtual LayerWriter::Value write(LayerWriter& writer, LayerWriter::Value x) const;
};

/// The layers of a network before they have weights. A plan takes almost no memory, however large the network is. It
/// makes one network, so it is moved, not copied.
class NetworkPlan {
 public:
  /// ArgumentError for fewer than 2 classes, or a size below 1.
  NetworkPlan(std::vector<int64_t> input_shape, int64_t classes);
  NetworkPlan(NetworkPlan&&) = default;
  NetworkPlan& operator=(NetworkPlan&&) = default;

  /// Its modules are registered under `name`; layers without modules need none. ArgumentError if it cannot take what
  /// the layer before it gives.
  void add(std::string name, std::shared_ptr<Layer> layer);

  /// Puts a layer before all others. It must leave the shape of an input as it is; otherwise ArgumentError.
  void prepend(std::string name, std::shared_ptr<Layer> layer);

  /// Puts a layer around the last one, under the same name. ArgumentError if it gives another shape.
  void wrap_last(const std::function<std::shared_ptr<Layer>(std::shared_ptr<Layer>)>& wrapped);

  /// The shape of what the last layer gives.
  const std::vector<int64_t>& shape() const { return shapes_.back(); }
  const std::vector<int64_t>& input_shape() const { return shapes_.front(); }
  /// The shape of what layer 0, 1, ... takes.
  const std::vector<int64_t>& shape_before(size_t index) const { return shapes_.at(index); }
  int64_t classes() const { return classes_; }

  size_t layers() const { return layers_.size(); }
  Layer& layer(size_t index) const { return *layers_.at(index); }
  const std::string& name(size_t index) const { return names_.at(index); }

  /// The size of all layers together.
  Layer::Size size() const;
  /// One row per layer.
  std::vector<LayerSummary> describe() const;

 private:
  int64_t classes_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<Layer>> layers_;
  std::vector<std::vector<int64_t>> shapes_;  ///< the input's, then what each layer gives
};

class PackedNetwork;

/// A classifier made of layers. Its features are the input of its last layer, if that is one row per input. Detectors
/// see the last map of each size. In evaluation on a CPU, without gradients, convolutions use a copy of the weights
/// (packed_network.h), which is made once, and again if the weights change.
class Network : public Classifier {
 public:
  /// Weights are drawn from the generator, layer by layer. ArgumentError if the plan does not end in [classes].
  Network(NetworkPlan plan, const at::Generator& generator);

  torch::Tensor forward(const torch::Tensor& inputs) override;
  const std::vector<int64_t>& input_shape() const override { return plan_.input_shape(); }
  int64_t classes() const override { return plan_.classes(); }

  bool gives_features() const override;
  torch::Tensor features(const torch::Tensor& inputs) override;
  torch::Tensor from_features(const torch::Tensor& features) override;
  std::vector<torch::Tensor> last_parameters() const override;

  bool gives_layers() const override { return !seen_maps_.empty(); }
  Activations activations(const torch::Tensor& inputs, bool layers) override;
  /// The layers that give the last map of a size.
  const std::vector<size_t>& seen_maps() const { return seen_maps_; }

  bool has_dropout() const override { return first_dropout() < plan_.layers(); }
  torch::Tensor before_dropout(const torch::Tensor& inputs) override;
  torch::Tensor from_dropout(const torch::Tensor& values) override;
  /// The number of the first layer with dropout; the number of layers if there is none.
  size_t first_dropout() const { return first_dropout_; }

  bool can_be_recorded() const override { return true; }

  void train(bool on = true) override;

  const NetworkPlan& plan() const { return plan_; }
  std::vector<LayerSummary> describe() const override { return plan_.describe(); }

 private:
  void check_inputs(const torch::Tensor& inputs) const;
  torch::Tensor through(torch::Tensor values, size_t first, size_t end);
  /// Null where the layers run one by one.
  std::shared_ptr<const PackedNetwork> packed_for(const torch::Tensor& inputs, size_t end);
  Activations packed_activations(const PackedNetwork& packed, const torch::Tensor& inputs, bool layers) const;

  NetworkPlan plan_;
  size_t first_dropout_ = 0;
  std::vector<size_t> seen_maps_;
  std::mutex packing_;
  bool can_be_packed_ = true;
  std::shared_ptr<const PackedNetwork> packed_;
};

}  // namespace priornet
