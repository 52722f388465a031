#include "learning/networks/packed_network.h"

#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softplus.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/networks/dense_rows.h"
#include "learning/networks/layers.h"
#include "learning/networks/packed_graph.h"
#include "uncertainty/core/parallel.h"

namespace priornet {
namespace {

using Value = LayerWriter::Value;

// How much memory the largest map of the images in one group may take, so that it stays in the caches. Smaller groups
// would not be worth reading the weights for.
constexpr int64_t kMapBytes = int64_t{1} << 20;
constexpr int64_t kFewestImages = 16;

int64_t version_of(const torch::Tensor& weight) { return weight.is_inference() ? 0 : weight._version(); }

torch::Tensor dense_layer(const torch::Tensor& given, const torch::Tensor& weight, const torch::Tensor& bias) {
  const auto rows = given.size(0), inputs = weight.size(1), outputs = weight.size(0);
  if (rows > kFewRows || given.dim() != 2 || !weight.is_contiguous()) return at::linear(given, weight, bias);
  const auto in = given.contiguous();
  const auto out = torch::empty({rows, outputs}, torch::kFloat32);
  constexpr int64_t kGrain = int64_t{1} << 16;  // weights that justify a thread
  static const auto instructions = best_instruction_set();
  parallel_for(0, outputs, std::max<int64_t>(1, kGrain / inputs), [&](int64_t begin, int64_t end) {
    dense_rows({in.data_ptr<float>(), weight.data_ptr<float>() + begin * inputs, bias.data_ptr<float>() + begin,
                out.data_ptr<float>() + begin, outputs, rows, inputs, end - begin},
               instructions);
  });
  return out;
}

int64_t largest_map(const NetworkPlan& plan) {
  int64_t largest = 1;
  for (size_t i = 0; i <= plan.layers(); ++i) {
    const auto& shape = i == plan.layers() ? plan.shape() : plan.shape_before(i);
    if (shape.size() == 3) largest = std::max(largest, size_product(size_product(shape[0], shape[1]), shape[2]));
  }
  return largest;
}

}  // namespace

// First records the operators: only when all are known is it clear which of them a convolution can do by the way.
class PackedNetwork::Writer : public LayerWriter {
 public:
  explicit Writer(PackedNetwork& network) : network_(network) {}

  Value convolution(Value x, const torch::Tensor& weight, const torch::Tensor& bias, Window window) override {
    seen(weight);
    if (bias.defined()) seen(bias);
    const auto exact = bias.defined() ? bias.to(torch::kFloat64) : torch::zeros(weight.size(0), torch::kFloat64);
    graph().convolutions.push_back({weight.contiguous(), exact, window});
    return record({.kind = PackedStep::Kind::kConvolution, .first = x, .index = graph().convolutions.size() - 1}, true);
  }

  Value batch_norm(Value x, const BatchNorm& norm) override {
    for (const auto& values : {norm.weight, norm.bias, norm.mean, norm.variance}) seen(values);
    graph().norms.push_back({norm.weight.contiguous(), norm.bias.contiguous(), norm.mean.contiguous(),
                             norm.variance.contiguous(), norm.epsilon});
    return record({.kind = PackedStep::Kind::kNorm, .first = x, .index = graph().norms.size() - 1}, true);
  }

  Value dense(Value x, const torch::Tensor& weight, const torch::Tensor& bias) override {
    seen(weight);
    seen(bias);
    return record_tensors(x, {}, [weight, bias](const torch::Tensor& given, const torch::Tensor&) {
      return dense_layer(given, weight, bias);
    });
  }

  Value rectifier(Value x, double slope) override {
    if (slope == kNoActivation) return x;
    if (is_map_[x]) return record({.kind = PackedStep::Kind::kRectifier, .first = x, .number = slope}, true);
    return record_tensors(x, {}, [slope](const torch::Tensor& given, const torch::Tensor&) {
      return slope == 0.0 ? at::relu(given) : at::leaky_relu(given, slope);
    });
  }

  Value max_pool(Value x, int64_t side, Window window) override {
    return record({.kind = PackedStep::Kind::kPool, .first = x, .side = side, .window = window}, true);
  }

  Value image_mean(Value x) override {
    return record_tensors(x, {}, [](const torch::Tensor& given, const torch::Tensor&) { return given.mean({2, 3}); });
  }

  Value flatten(Value x) override {
    return record_tensors(x, {}, [](const torch::Tensor& given, const torch::Tensor&) { return given.flatten(1); });
  }

  Value scale(Value x, double factor) override {
    if (is_map_[x]) return record({.kind = PackedStep::Kind::kScale, .first = x, .number = factor}, true);
    return record_tensors(x, {}, [factor](const torch::Tensor& given, const torch::Tensor&) { return given * factor; });
  }

  Value add(Value a, Value b) override {
    if (a == b) return scale(a, 2.0);
    if (is_map_[a] && is_map_[b]) return record({.kind = PackedStep::Kind::kAdd, .first = a, .second = b}, true);
    return record_tensors(a, b, [](const torch::Tensor& first, const torch::Tensor& second) { return first + second; });
  }

  Value smooth_at_least(Value x, double least) override {
    return record_tensors(x, {}, [least](const torch::Tensor& given, const torch::Tensor&) {
      return at::softplus(given - least, 1, 40) + least;
    });
  }

  Value dropout(Value x, double) override { return x; }

  /// `looked_at`: values that the caller wants to see, beside the operators that take them.
  void finish(const std::vector<Value>& looked_at) {
    std::vector<int64_t> uses(is_map_.size(), 0);
    for (const auto& step : recorded_) {
      ++uses[step.first];
      if (step.second) ++uses[*step.second];
    }
    for (const auto value : looked_at) ++uses[value];
    auto& steps = graph().steps;
    // The convolution that made a value for one reader alone and does nothing more with it; or null.
    const auto bare = [&](Value value) -> PackedStep* {
      for (auto& step : steps)
        if (step.made == value) return uses[value] == 1 && step.is_bare() ? &step : nullptr;
      return nullptr;
    };
    for (const auto& step : recorded_) {
      if (step.kind == PackedStep::Kind::kNorm)
        if (auto* const before = bare(step.first)) {
          fold(graph().norms[step.index], graph().convolutions[before->index]);
          before->made = step.made;
          continue;
        }
      if (step.kind == PackedStep::Kind::kRectifier && takes_rectifier(step, uses)) continue;
      if (step.kind == PackedStep::Kind::kAdd) {
        // The later of the two adds the other, which is there by then.
        const auto later = std::max(step.first, *step.second), earlier = std::min(step.first, *step.second);
        if (auto* const before = bare(later); before != nullptr && before == &steps.back()) {
          before->second = earlier;
          before->made = step.made;
          continue;
        }
      }
      steps.push_back(step);
    }
    for (auto& one : graph().convolutions) one.bias = one.bias.to(torch::kFloat32);
  }

 private:
  PackedGraph& graph() { return *network_.graph_; }

  Value record(PackedStep step, bool is_map) {
    step.made = is_map_.size();
    recorded_.push_back(std::move(step));
    is_map_.push_back(is_map);
    return recorded_.back().made;
  }

  Value record_tensors(Value first, std::optional<Value> second, PackedStep::OfTensors of_tensors) {
    return record(
        {.kind = PackedStep::Kind::kTensors, .first = first, .second = second, .of_tensors = std::move(of_tensors)},
        false);
  }

  // Whether the step before has computed it by the way: a convolution, with or without a sum, or a norm.
  bool takes_rectifier(const PackedStep& rectifier, const std::vector<int64_t>& uses) {
    auto& steps = graph().steps;
    if (steps.empty() || steps.back().made != rectifier.first || uses[rectifier.first] != 1) return false;
    auto& before = steps.back();
    const bool can = before.kind == PackedStep::Kind::kConvolution ||
                     (before.kind == PackedStep::Kind::kNorm && rectifier.number == 0.0);
    if (!can || before.number != kNoActivation) return false;
    before.number = rectifier.number;
    before.made = rectifier.made;
    return true;
  }

  void seen(const torch::Tensor& weight) { network_.weights_.push_back({weight, weight.detach(), version_of(weight)}); }

  // norm(w * x + b) = (s w) * x + s (b - mean) + bias, s = weight / sqrt(variance + epsilon).
  static void fold(const BatchNorm& norm, PackedConvolution& convolution) {
    const auto exact = [](const torch::Tensor& values) { return values.to(torch::kFloat64); };
    const auto scale = exact(norm.weight) / (exact(norm.variance) + norm.epsilon).sqrt();
    convolution.weight = convolution.weight * scale.to(torch::kFloat32).view({-1, 1, 1, 1});
    convolution.bias = scale * (convolution.bias - exact(norm.mean)) + exact(norm.bias);
  }

  PackedNetwork& network_;
  std::vector<PackedStep> recorded_;
  std::vector<bool> is_map_{true};  ///< of each value
};

PackedNetwork::PackedNetwork() : graph_(std::make_unique<PackedGraph>()) {}
PackedNetwork::~PackedNetwork() = default;

std::shared_ptr<const PackedNetwork> PackedNetwork::of(const NetworkPlan& plan) {
  const torch::NoGradGuard no_gradient;
  const std::shared_ptr<PackedNetwork> network(new PackedNetwork);
  Writer writer(*network);
  Value value = 0;
  try {
    for (size_t i = 0; i < plan.layers(); ++i) {
      value = plan.layer(i).write(writer, value);
      network->value_after_.push_back(value);
    }
  } catch (const ArgumentError&) {
    return nullptr;  // a layer that cannot be written down
  }
  if (network->graph_->convolutions.empty()) return nullptr;
  for (const auto& one : network->weights_)
    if (!one.weight.is_cpu() || one.weight.scalar_type() != torch::kFloat32) return nullptr;
  writer.finish(network->value_after_);
  if (!network->graph_->can_run(plan.input_shape())) return nullptr;
  const auto bytes = 4 * largest_map(plan);
  network->images_ = std::max(kFewestImages, kMapBytes / bytes);
  return network;
}

bool PackedNetwork::is_current() const {
  return std::all_of(weights_.begin(), weights_.end(), [](const WeightState& one) {
    return one.weight.data_ptr() == one.packed.data_ptr() && version_of(one.weight) == one.version;
  });
}

torch::Tensor PackedNetwork::forward(const torch::Tensor& inputs, size_t end, const std::vector<bool>& wanted,
                                     const See& see) const {
  const auto last = value_after_.at(end - 1);
  const auto show = [&](Value value, const PackedGraph::TensorOf& tensor) {
    if (!see) return;
    for (size_t layer = 0; layer < end; ++layer)
      if (wanted[layer] && value_after_[layer] == value) see(layer, tensor(value));
  };
  const auto given = inputs.contiguous();
  std::vector<torch::Tensor> parts;
  for (int64_t first = 0; first < given.size(0); first += images_) {
    const auto few = given.narrow(0, first, std::min(images_, given.size(0) - first));
    parts.push_back(graph_->run(few, last, show));
  }
  return parts.size() == 1 ? parts[0] : torch::cat(parts);
}

}  // namespace priornet
