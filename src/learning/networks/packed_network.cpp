#include "learning/networks/packed_network.h"

#include <ATen/Context.h>
#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/mkldnn_reorder_conv2d_weight.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softplus.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/networks/dense_rows.h"
#include "learning/networks/layers.h"
#include "uncertainty/core/parallel.h"

namespace priornet {
namespace {

// How much memory the largest map of the images in one group may take: it stays in the caches, and its memory is reused
// instead of requested from the system, which costs more than the convolution. Smaller groups would not be worth
// reading the weights for.
constexpr int64_t kMapBytes = int64_t{4} << 20;
constexpr int64_t kFewestImages = 8;

torch::Tensor dense(const torch::Tensor& values) { return values.is_mkldnn() ? values.to_dense() : values; }

torch::Tensor packed(const torch::Tensor& values) {
  return values.is_mkldnn() ? values : values.contiguous().to_mkldnn();
}

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

// First records the operators: only when all are known is it clear which convolutions a batch norm can be folded into.
class PackedNetwork::Writer : public LayerWriter {
 public:
  explicit Writer(PackedNetwork& network) : network_(network) {}

  Value convolution(Value x, const torch::Tensor& weight, const torch::Tensor& bias, Window window) override {
    seen(weight);
    if (bias.defined()) seen(bias);
    const auto exact = bias.defined() ? bias.to(torch::kFloat64) : torch::zeros(weight.size(0), torch::kFloat64);
    convolutions_.push_back({weight, exact, window});
    return add_operator({x, x, Kind::kConvolution, convolutions_.size() - 1});
  }

  Value batch_norm(Value x, const BatchNorm& norm) override {
    for (const auto& values : {norm.weight, norm.bias, norm.mean, norm.variance}) seen(values);
    norms_.push_back(norm);
    return add_operator({x, x, Kind::kBatchNorm, norms_.size() - 1});
  }

  Value dense(Value x, const torch::Tensor& weight, const torch::Tensor& bias) override {
    seen(weight);
    seen(bias);
    return add_step({x, x, Kind::kOther}, [weight, bias](const Operands& given) {
      return dense_layer(priornet::dense(given.first), weight, bias);
    });
  }

  Value rectifier(Value x, double slope) override {
    if (slope == kNoActivation) return x;
    // oneDNN's tensors have no leaky rectifier of their own.
    return add_step({x, x, Kind::kOverwriting}, [slope](const Operands& given) {
      if (slope != 0.0 && given.first.is_mkldnn())
        return at::add(given.first * slope, at::relu(given.first), 1.0 - slope);
      return activated(given.may_overwrite ? given.first : given.first.clone(), slope);
    });
  }

  Value max_pool(Value x, int64_t side, Window window) override {
    return add_step({x, x, Kind::kOther}, [side, window](const Operands& given) {
      return at::max_pool2d(packed(given.first), {side, side}, {window.stride, window.stride},
                            {window.padding, window.padding});
    });
  }

  Value image_mean(Value x) override {
    return add_step({x, x, Kind::kOther}, [](const Operands& given) {
      return priornet::dense(given.first).mean({2, 3});
    });
  }

  Value flatten(Value x) override {
    // Copies a tensor that would share memory: writing to one must not change the other.
    return add_step({x, x, Kind::kOther}, [](const Operands& given) {
      const auto flat = priornet::dense(given.first).flatten(1);
      return given.first.is_mkldnn() || given.may_overwrite ? flat : flat.clone();
    });
  }

  Value scale(Value x, double factor) override {
    return add_step({x, x, Kind::kOther}, [factor](const Operands& given) { return given.first * factor; });
  }

  Value add(Value a, Value b) override {
    if (a == b) return scale(a, 2.0);
    const auto sum = [](const Operands& given) {
      const bool same = given.first.is_mkldnn() == given.second.is_mkldnn();
      auto first = same ? given.first : priornet::dense(given.first);
      const auto second = same ? given.second : priornet::dense(given.second);
      return given.may_overwrite ? first.add_(second) : first.add(second);
    };
    return add_step({a, b, Kind::kOverwriting}, sum);
  }

  Value smooth_at_least(Value x, double least) override {
    return add_step({x, x, Kind::kOther}, [least](const Operands& given) {
      return at::softplus(priornet::dense(given.first) - least, 1, 40) + least;
    });
  }

  Value dropout(Value x, double) override { return x; }

  bool has_convolution() const { return !convolutions_.empty(); }

  /// `looked_at`: values that the caller wants to see, beside the operators that take them.
  void finish(const std::vector<Value>& looked_at) {
    std::vector<int64_t> uses(operators_.size() + 1, 0);
    for (const auto& one : operators_) {
      ++uses[one.first];
      if (one.second != one.first) ++uses[one.second];
    }
    for (const auto value : looked_at) ++uses[value];
    std::vector<bool> folded(norms_.size(), false);
    for (const auto& one : operators_) {
      if (one.kind != Kind::kBatchNorm || one.first == 0 || uses[one.first] != 1) continue;
      const auto& before = operators_[one.first - 1];
      if (before.kind != Kind::kConvolution) continue;
      fold(norms_[one.index], convolutions_[before.index]);
      folded[one.index] = true;
    }
    for (const auto& one : operators_) {
      Step step{one.compute, one.first, one.second, one.first != one.second, one.kind == Kind::kOverwriting};
      if (one.kind == Kind::kConvolution) step.compute = packed_convolution(convolutions_[one.index]);
      if (one.kind == Kind::kBatchNorm && folded[one.index])
        step.compute = [](const Operands& given) { return given.first; };
      else if (one.kind == Kind::kBatchNorm)
        step.compute = [norm = norms_[one.index]](const Operands& given) {
          return at::batch_norm(packed(given.first), norm.weight, norm.bias, norm.mean, norm.variance, false, 0.0,
                                norm.epsilon, false);
        };
      network_.steps_.push_back(std::move(step));
    }
  }

 private:
  enum class Kind { kConvolution, kBatchNorm, kOverwriting, kOther };
  struct Operator {
    Value first, second;
    Kind kind;
    size_t index = 0;  ///< among convolutions or norms
    std::function<torch::Tensor(const Operands&)> compute = {};
  };
  struct Convolution {
    torch::Tensor weight, bias;  ///< float32, float64
    Window window;
  };

  Value add_operator(Operator one) {
    operators_.push_back(std::move(one));
    return operators_.size();
  }
  Value add_step(Operator one, std::function<torch::Tensor(const Operands&)> compute) {
    one.compute = std::move(compute);
    return add_operator(std::move(one));
  }
  void seen(const torch::Tensor& weight) { network_.weights_.push_back({weight, weight.detach(), version_of(weight)}); }

  // norm(w * x + b) = (s w) * x + s (b - mean) + bias, s = weight / sqrt(variance + epsilon).
  static void fold(const BatchNorm& norm, Convolution& convolution) {
    const auto exact = [](const torch::Tensor& values) { return values.to(torch::kFloat64); };
    const auto scale = exact(norm.weight) / (exact(norm.variance) + norm.epsilon).sqrt();
    convolution.weight = convolution.weight * scale.to(torch::kFloat32).view({-1, 1, 1, 1});
    convolution.bias = scale * (convolution.bias - exact(norm.mean)) + exact(norm.bias);
  }

  static std::function<torch::Tensor(const Operands&)> packed_convolution(const Convolution& convolution) {
    const std::vector<int64_t> stride(2, convolution.window.stride), padding(2, convolution.window.padding), near(2, 1);
    const auto weight =
        at::mkldnn_reorder_conv2d_weight(convolution.weight.contiguous().to_mkldnn(), padding, stride, near);
    const auto bias = convolution.bias.to(torch::kFloat32).to_mkldnn();
    return [=](const Operands& given) { return at::conv2d(packed(given.first), weight, bias, stride, padding); };
  }

  PackedNetwork& network_;
  std::vector<Operator> operators_;
  std::vector<Convolution> convolutions_;
  std::vector<BatchNorm> norms_;
};

std::shared_ptr<const PackedNetwork> PackedNetwork::of(const NetworkPlan& plan) {
  if (!at::hasMKLDNN() || !at::globalContext().userEnabledMkldnn()) return nullptr;
  const torch::NoGradGuard no_gradient;
  const auto network = std::make_shared<PackedNetwork>();
  Writer writer(*network);
  LayerWriter::Value value = 0;
  try {
    for (size_t i = 0; i < plan.layers(); ++i) {
      value = plan.layer(i).write(writer, value);
      network->value_after_.push_back(value);
    }
  } catch (const ArgumentError&) {
    return nullptr;  // a layer that cannot be written down
  }
  if (!writer.has_convolution()) return nullptr;
  for (const auto& one : network->weights_)
    if (!one.weight.is_cpu() || one.weight.scalar_type() != torch::kFloat32) return nullptr;
  writer.finish(network->value_after_);
  const auto bytes = 4 * largest_map(plan);
  network->images_ = std::max(kFewestImages, kMapBytes / bytes);
  return network;
}

bool PackedNetwork::is_current() const {
  return std::all_of(weights_.begin(), weights_.end(), [](const WeightState& one) {
    return one.weight.data_ptr() == one.packed.data_ptr() && version_of(one.weight) == one.version;
  });
}

torch::Tensor PackedNetwork::few(const torch::Tensor& inputs, size_t end, const std::vector<bool>& wanted,
                                 const See& see) const {
  const auto last = end == 0 ? 0 : value_after_[end - 1];
  std::vector<int64_t> left(last + 1, 0);
  for (size_t i = 0; i < last; ++i) {
    ++left[steps_[i].first];
    if (steps_[i].binary) ++left[steps_[i].second];
  }
  std::vector<torch::Tensor> values(last + 1);
  values[0] = inputs;
  size_t layer = 0;
  const auto show = [&](size_t value) {
    for (; layer < end && value_after_[layer] <= value; ++layer)
      if (see && wanted[layer]) see(layer, dense(values[value_after_[layer]]));
  };
  show(0);
  const auto take = [&](size_t value) { return --left[value] == 0 ? std::move(values[value]) : values[value]; };
  for (size_t i = 0; i < last; ++i) {
    const auto& step = steps_[i];
    // `see` does not keep what it is shown; the input is the caller's.
    Operands given;
    given.may_overwrite = left[step.first] == 1 && step.first != 0;
    given.first = take(step.first);
    if (step.binary) given.second = take(step.second);
    values[i + 1] = step.compute(given);
    show(i + 1);
  }
  return dense(values[last]);
}

torch::Tensor PackedNetwork::forward(const torch::Tensor& inputs, size_t end, const std::vector<bool>& wanted,
                                     const See& see) const {
  std::vector<torch::Tensor> parts;
  for (int64_t first = 0; first < inputs.size(0); first += images_)
    parts.push_back(few(inputs.narrow(0, first, std::min(images_, inputs.size(0) - first)), end, wanted, see));
  return parts.size() == 1 ? parts[0] : torch::cat(parts);
}

}  // namespace priornet
