#pragma once

#include <priornet/learning/method.h>

// The methods: a new one is a source file with a function that returns its row, which is declared and listed here and
// nowhere else.

namespace priornet {

MethodInfo dnn_method();
MethodInfo dpn_method();
MethodInfo dpn_reverse_method();
MethodInfo outlier_exposure_method();
MethodInfo distil_method();
MethodInfo evidential_method();
MethodInfo posterior_method();

/// In the order in which configurations show them.
inline std::vector<MethodInfo> listed_methods() {
  return {dnn_method(),    dpn_method(),        dpn_reverse_method(), outlier_exposure_method(),
          distil_method(), evidential_method(), posterior_method()};
}

/// For MethodInfo::make: makes a method whose constructor takes its settings.
template <class M>
std::unique_ptr<Method> made(const SettingValues& settings) {
  return std::make_unique<M>(settings);
}

/// Adds `weight` times the mean cross-entropy from `probabilities` to logits [R, K], with its gradient, clipped to
/// `steepest`. The logits are rows of the batch from `first` on; probabilities: [R, K] or, the same for all, [1, K].
/// Returns that mean.
torch::Tensor add_cross_entropy(LossWithGradient& result, const torch::Tensor& logits, int64_t first,
                                const torch::Tensor& probabilities, double weight, double steepest);

/// [1, K], of the logits' dtype and device.
torch::Tensor equal_probabilities(const torch::Tensor& logits);

/// All parts and the gradient 0.
LossWithGradient no_loss(const torch::Tensor& logits);

// Settings that several methods have.
constexpr Setting kAlpha0 = {"alpha0", 1e3, above(0), "precision of the target in distribution"};
constexpr Setting kDivergenceWeight = {"divergence_weight", 1.0, at_least(0),
                                       "weight of the divergence in distribution"};
constexpr Setting kOutsideWeight = {"outside_weight", 1.0, at_least(0),
                                    "weight of the loss on out-of-distribution inputs"};

}  // namespace priornet
