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

/// In the order in which configurations show them.
inline std::vector<MethodInfo> listed_methods() {
  return {dnn_method(), dpn_method(), dpn_reverse_method(), outlier_exposure_method(), distil_method()};
}

/// For MethodInfo::make, of a method that takes its settings when it is made.
template <class M>
std::unique_ptr<Method> made(const SettingValues& settings) {
  return std::make_unique<M>(settings);
}

// Settings that several methods have.
constexpr Setting kAlpha0 = {"alpha0", 1e3, above(0), "precision of the target in distribution"};
constexpr Setting kDivergenceWeight = {"divergence_weight", 1.0, at_least(0), "of the divergence in distribution"};
constexpr Setting kOutsideWeight = {"outside_weight", 1.0, at_least(0), "of the loss outside"};

}  // namespace priornet
