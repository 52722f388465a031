#pragma once

#include <priornet/learning/outliers.h>

// The outlier sources: a new one is a source file with a function that returns its row, which is declared and listed
// here and nowhere else.

namespace priornet {

OutlierSourceInfo factor_analysis_source();
OutlierSourceInfo gaussian_noise_source();
OutlierSourceInfo uniform_noise_source();
OutlierSourceInfo mixture_source();

/// In the order in which configurations show them.
inline std::vector<OutlierSourceInfo> listed_outlier_sources() {
  return {factor_analysis_source(), gaussian_noise_source(), uniform_noise_source(), mixture_source()};
}

/// For OutlierSourceInfo::images and rows.
template <class Source>
std::unique_ptr<OutsideSource> made_outside(const SettingValues& settings, const OutsideContext& context) {
  return std::make_unique<Source>(settings, context);
}

/// Of the draws of a step.
uint64_t seed_of_step(uint64_t seed, int64_t step);

}  // namespace priornet
