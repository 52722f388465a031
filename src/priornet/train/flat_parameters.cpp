#include <priornet/core/errors.h>
#include <priornet/train/flat_parameters.h>

namespace priornet {
namespace {

constexpr int64_t kAlignment = 64;  // elements: a cache line and more, for any dtype

int64_t aligned(int64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

FlatParameters::FlatParameters(std::vector<torch::Tensor> parameters) : views(std::move(parameters)) {
  if (views.empty()) throw ArgumentError("FlatParameters: parameters should be at least one, found none");
  int64_t size = 0;
  for (const auto& parameter : views) {
    if (parameter.dtype() != views[0].dtype() || parameter.device() != views[0].device())
      throw ArgumentError("FlatParameters: parameters should share dtype and device, found several");
    offsets.push_back(size);
    size += aligned(parameter.numel());
  }
  const torch::NoGradGuard no_gradient;
  const auto options = views[0].options().requires_grad(false);
  values = torch::zeros({size}, options);
  gradients = torch::zeros({size}, options);
  for (size_t i = 0; i < views.size(); ++i) {
    auto& parameter = views[i];
    // A dense layout, such as channels-last, is kept.
    const auto strides = parameter.is_non_overlapping_and_dense()
                             ? parameter.strides().vec()
                             : torch::empty(parameter.sizes(), options).strides().vec();
    const auto view = values.as_strided(parameter.sizes(), strides, offsets[i]);
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = gradients.as_strided(parameter.sizes(), strides, offsets[i]);
  }
}

void FlatParameters::clear_gradients() { gradients.zero_(); }

}  // namespace priornet
