#include "learning/networks/fused_convolution.h"

#include <torch/csrc/autograd/custom_function.h>

#include "learning/base/gpu_modes.h"
#include "learning/networks/convolution_kernels.h"
#include "uncertainty/core/rows.h"

namespace priornet::fused {

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr auto kLayout = torch::MemoryFormat::ChannelsLast;

kernels::Extent extent_of(const Tensor& values) { return {values.numel() / values.size(1), values.size(1)}; }

Tensor like(const Tensor& values) { return torch::empty_like(values, values.options(), kLayout); }

Tensor floats(const Tensor& near, torch::IntArrayRef sizes) {
  return torch::empty(sizes, near.options().dtype(torch::kFloat32).memory_format(torch::MemoryFormat::Contiguous));
}

Tensor scratch(const Tensor& values, int64_t rows) {
  return floats(values, {kernels::partial_blocks(rows, values.size(1)), 2, values.size(1)});
}

template <class T>
T* pointer(const Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.data_ptr()) : nullptr;
}

// Calls run(T()) with the kernels' type of the values.
template <class Run>
void by_type(const Tensor& values, Run run) {
  if (values.scalar_type() == torch::kFloat32)
    run(float());
  else
    run(uint16_t());
}

kernels::Activation activation(double slope) { return {static_cast<float>(slope)}; }

void add_to_gradient(const Tensor& weight, const Tensor& part) {
  auto& sum = weight.mutable_grad();
  if (part.strides() != sum.strides() || !part.is_non_overlapping_and_dense() || part.numel() % 8 != 0) {
    sum.add_(part);
    return;
  }
  kernels::run(kernels::Addition{part.numel(), pointer<uint16_t>(part), pointer<float>(sum)}, current_cuda_stream());
}

// The stream of a forward pass, kept for its backward pass, which runs on one of LibTorch's threads.
struct Aside : torch::CustomClassHolder {
  explicit Aside(std::shared_ptr<SecondStream> shared) : stream(std::move(shared)) {}
  std::shared_ptr<SecondStream> stream;
};

struct Convolved : torch::autograd::Function<Convolved> {
  static Tensor forward(AutogradContext* context, const Tensor& inputs, const Tensor& weight, int64_t stride) {
    const auto rounded = weight.to(inputs.scalar_type());
    context->save_for_backward({inputs, weight, rounded});
    context->saved_data["stride"] = stride;
    context->saved_data["of_inputs"] = inputs.requires_grad();
    context->saved_data["aside"] =
        c10::IValue::make_capsule(c10::make_intrusive<Aside>(WeightGradientsAside::stream()));
    return torch::conv2d(inputs, rounded, {}, stride, {weight.size(2) / 2, weight.size(3) / 2});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &inputs = saved[0], &weight = saved[1], &rounded = saved[2];
    const auto stride = context->saved_data["stride"].toInt();
    const auto down = gradients[0].contiguous(kLayout);
    const auto gradient = [&](std::array<bool, 3> wanted) {
      const std::vector<int64_t> strides(2, stride), padding{weight.size(2) / 2, weight.size(3) / 2}, ones(2, 1),
          zeros(2);
      return at::convolution_backward(down, inputs, rounded, at::OptionalIntArrayRef(), strides, padding, ones, false,
                                      zeros, 1, wanted);
    };
    Tensor of_inputs;
    if (context->saved_data["of_inputs"].toBool()) of_inputs = std::get<0>(gradient({true, false, false}));
    // Started after the gradient of the inputs, which also computes, so that it runs beside the next step, which waits
    // for memory.
    const auto aside = c10::static_intrusive_pointer_cast<Aside>(context->saved_data["aside"].toCapsule())->stream;
    aside->run([&] { add_to_gradient(weight, std::get<1>(gradient({false, true, false}))); }, {down, inputs, rounded});
    return {of_inputs, Tensor(), Tensor()};
  }
};

struct Biased : torch::autograd::Function<Biased> {
  static Tensor forward(AutogradContext* context, const Tensor& values, const Tensor& bias, double slope) {
    const auto output = like(values);
    by_type(values, [&](auto type) {
      using T = decltype(type);
      kernels::run(kernels::BiasForward<T>{extent_of(values), activation(slope), pointer<T>(values),
                                           pointer<float>(bias), pointer<T>(output)},
                   current_cuda_stream());
    });
    context->save_for_backward({output});
    context->saved_data["slope"] = slope;
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto output = context->get_saved_variables()[0];
    const auto slope = context->saved_data["slope"].toDouble();
    const auto down = gradients[0].contiguous(kLayout);
    const auto extent = extent_of(output);
    const auto values_gradient = like(output);
    const auto bias_gradient = floats(output, {extent.channels});
    const auto partial = scratch(output, extent.rows);
    by_type(output, [&](auto type) {
      using T = decltype(type);
      kernels::run(
          kernels::BiasBackward<T>{extent, activation(slope), pointer<T>(output), pointer<T>(down),
                                   pointer<T>(values_gradient), pointer<float>(partial), pointer<float>(bias_gradient)},
          current_cuda_stream());
    });
    return {values_gradient, bias_gradient, Tensor()};
  }
};

struct Pooled : torch::autograd::Function<Pooled> {
  static Tensor forward(AutogradContext* context, const Tensor& values, const Tensor& bias, double slope) {
    const auto images = values.size(0), channels = values.size(1), height = values.size(2), width = values.size(3);
    const auto output =
        torch::empty({images, channels, height / 2, width / 2}, values.options().memory_format(kLayout));
    const auto winner = torch::empty({output.numel() / 8}, values.options().dtype(torch::kInt16));
    by_type(values, [&](auto type) {
      using T = decltype(type);
      kernels::run(kernels::PoolForward<T>{images, height, width, channels, activation(slope), pointer<T>(values),
                                           pointer<float>(bias), pointer<T>(output), pointer<uint16_t>(winner)},
                   current_cuda_stream());
    });
    context->save_for_backward({output, winner});
    context->saved_data["slope"] = slope;
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto& output = saved[0];
    const auto slope = context->saved_data["slope"].toDouble();
    const auto down = gradients[0].contiguous(kLayout);
    const auto images = output.size(0), channels = output.size(1);
    const auto height = 2 * output.size(2), width = 2 * output.size(3);
    const auto values_gradient =
        torch::empty({images, channels, height, width}, output.options().memory_format(kLayout));
    const auto bias_gradient = floats(output, {channels});
    const auto partial = scratch(output, extent_of(output).rows);
    by_type(output, [&](auto type) {
      using T = decltype(type);
      kernels::run(kernels::PoolBackward<T>{images, height, width, channels, activation(slope), pointer<T>(output),
                                            pointer<T>(down), pointer<uint16_t>(saved[1]), pointer<T>(values_gradient),
                                            pointer<float>(partial), pointer<float>(bias_gradient)},
                   current_cuda_stream());
    });
    return {values_gradient, bias_gradient, Tensor()};
  }
};

// A gradient that Forked leaves for the batch norm whose output it forked.
struct SecondGradient : torch::CustomClassHolder {
  Tensor gradient;
};

struct NormState {
  Tensor running_mean, running_variance, batches;
  double momentum, epsilon;
};

struct Normed : torch::autograd::Function<Normed> {
  static constexpr const char* kSecondGradient = "second_gradient";

  static SecondGradient& second_gradient(AutogradContext& context) {
    return *c10::static_intrusive_pointer_cast<SecondGradient>(context.saved_data[kSecondGradient].toCapsule());
  }

  // `residuals` holds one or none: an undefined tensor could not be recorded.
  static Tensor forward(AutogradContext* context, const Tensor& values, const Tensor& weight, const Tensor& bias,
                        torch::TensorList residuals, const NormState& state, double slope) {
    const auto residual = residuals.empty() ? Tensor() : residuals[0];
    const auto extent = extent_of(values);
    const auto output = like(values);
    const auto positive =
        residual.defined() ? torch::empty({values.numel() / 8}, values.options().dtype(torch::kUInt8)) : Tensor();
    const auto norm = floats(values, {kernels::kNormRows, extent.channels});
    const auto partial = scratch(values, extent.rows);
    by_type(values, [&](auto type) {
      using T = decltype(type);
      kernels::run(kernels::NormForward<T>{extent, activation(slope), pointer<T>(values), pointer<T>(residual),
                                           pointer<float>(weight), pointer<float>(bias),
                                           static_cast<float>(state.momentum), static_cast<float>(state.epsilon),
                                           pointer<float>(state.running_mean), pointer<float>(state.running_variance),
                                           pointer<int64_t>(state.batches), pointer<float>(partial),
                                           pointer<float>(norm), pointer<T>(output), pointer<uint8_t>(positive)},
                   current_cuda_stream());
    });
    context->save_for_backward({values, weight, norm, positive, bias});
    context->saved_data["slope"] = slope;
    context->saved_data[kSecondGradient] = c10::IValue::make_capsule(c10::make_intrusive<SecondGradient>());
    context->saved_data["adds"] =
        WeightGradientsAside::stream() != nullptr && weight.grad().defined() && bias.grad().defined();
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &values = saved[0], &weight = saved[1], &norm = saved[2], &positive = saved[3], &bias = saved[4];
    const bool adds = context->saved_data["adds"].toBool();  // to the sums themselves, by the kernel
    const auto slope = context->saved_data["slope"].toDouble();
    const auto down = gradients[0].contiguous(kLayout);
    const auto second = std::exchange(second_gradient(*context).gradient, Tensor());
    const auto extent = extent_of(values);
    const auto values_gradient = like(values);
    const auto residual_gradient = positive.defined() ? like(values) : Tensor();
    const auto weight_gradient = adds ? weight.grad() : floats(values, {extent.channels});
    const auto bias_gradient = adds ? bias.grad() : floats(values, {extent.channels});
    const auto partial = scratch(values, extent.rows), coefficients = floats(values, {3, extent.channels});
    by_type(values, [&](auto type) {
      using T = decltype(type);
      kernels::run(kernels::NormBackward<T>{extent, activation(slope), pointer<T>(values), pointer<uint8_t>(positive),
                                            pointer<T>(down), pointer<T>(second), pointer<float>(weight),
                                            pointer<float>(norm), pointer<float>(partial), pointer<float>(coefficients),
                                            pointer<T>(residual_gradient), pointer<T>(values_gradient),
                                            pointer<float>(weight_gradient), pointer<float>(bias_gradient), adds},
                   current_cuda_stream());
    });
    variable_list result{values_gradient, adds ? Tensor() : weight_gradient, adds ? Tensor() : bias_gradient};
    if (positive.defined()) result.push_back(residual_gradient);
    result.resize(result.size() + 2);
    return result;
  }
};

// Twice the output of a batch norm. LibTorch would add up the gradients of both in a pass of its own; here the second
// goes to the batch norm beside the graph, which adds it to the first where it reads it.
struct Forked : torch::autograd::Function<Forked> {
  static variable_list forward(AutogradContext* context, const Tensor& values, const c10::IValue& of_norm) {
    context->saved_data["of_norm"] = of_norm;
    return {values.view_as(values), values.view_as(values)};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto of_norm = c10::static_intrusive_pointer_cast<SecondGradient>(context->saved_data["of_norm"].toCapsule());
    of_norm->gradient = gradients[1].contiguous(kLayout);
    return {gradients[0], Tensor()};
  }
};

bool is_on_gpu_as_float(const Tensor& tensor) {
  return tensor.is_cuda() && tensor.dim() == 4 && tensor.numel() > 0 &&
         (tensor.scalar_type() == torch::kFloat32 || tensor.scalar_type() == torch::kBFloat16);
}

bool can_have_channels(int64_t channels) { return channels % 8 == 0 && channels <= kernels::kMostChannels; }

}  // namespace

Tensor convolved(const Tensor& inputs, torch::nn::Conv2d& convolution) {
  const auto& weight = convolution->weight;
  const auto stride = convolution->options.stride();
  if (WeightGradientsAside::stream() && torch::GradMode::is_enabled() && weight.requires_grad() &&
      weight.grad().defined() && inputs.is_cuda() && inputs.scalar_type() == torch::kBFloat16)
    return Convolved::apply(inputs, weight, stride->at(0)).contiguous(kLayout);
  return torch::conv2d(inputs, weight, {}, stride, {weight.size(2) / 2, weight.size(3) / 2}).contiguous(kLayout);
}

bool takes(const Tensor& values) {
  return is_on_gpu_as_float(values) && can_have_channels(values.size(1)) && values.is_contiguous(kLayout);
}

bool follows(const Tensor& inputs, const torch::nn::Conv2d& convolution) {
  return is_on_gpu_as_float(inputs) && is_on_gpu_as_float(convolution->weight) &&
         can_have_channels(convolution->weight.size(0));
}

bool can_pool(const Tensor& inputs) { return inputs.size(2) % 2 == 0 && inputs.size(3) % 2 == 0; }

Tensor biased(const Tensor& inputs, torch::nn::Conv2d& convolution, double slope) {
  return Biased::apply(convolved(inputs, convolution), convolution->bias, slope);
}

Tensor biased_and_pooled(const Tensor& inputs, torch::nn::Conv2d& convolution, double slope) {
  return Pooled::apply(convolved(inputs, convolution), convolution->bias, slope);
}

Tensor normed(const Tensor& values, torch::nn::BatchNorm2d& norm, double slope, const Tensor& residual) {
  const auto& options = norm->options;
  const NormState state{norm->running_mean, norm->running_var, norm->num_batches_tracked, options.momentum().value(),
                        options.eps()};
  const auto residuals = residual.defined() ? torch::TensorList(residual) : torch::TensorList();
  return Normed::apply(values, norm->weight, norm->bias, residuals, state, slope);
}

Tensor normed_by_running(const Tensor& values, torch::nn::BatchNorm2d& norm, double slope, const Tensor& residual) {
  const auto output = like(values);
  by_type(values, [&](auto type) {
    using T = decltype(type);
    kernels::run(
        kernels::NormByRunning<T>{extent_of(values), activation(slope), pointer<T>(values), pointer<T>(residual),
                                  pointer<float>(norm->weight), pointer<float>(norm->bias),
                                  pointer<float>(norm->running_mean), pointer<float>(norm->running_var),
                                  static_cast<float>(norm->options.eps()), pointer<T>(output)},
        current_cuda_stream());
  });
  return output;
}

std::pair<Tensor, Tensor> forked(const Tensor& values) {
  const auto made_by = values.grad_fn();
  auto* const norm = dynamic_cast<torch::autograd::CppNode<Normed>*>(made_by.get());
  if (norm == nullptr) return {values, values};
  const auto both = Forked::apply(values, norm->ctx_.saved_data[Normed::kSecondGradient]);
  return {both[0], both[1]};
}

}  // namespace priornet::fused
