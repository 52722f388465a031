#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace priornet {

enum class Resampling { kNearest, kBilinear, kBicubic };

/// What users call them.
constexpr std::array<std::pair<std::string_view, Resampling>, 3> kResamplingNames = {
    {{"nearest", Resampling::kNearest}, {"bilinear", Resampling::kBilinear}, {"bicubic", Resampling::kBicubic}}};

constexpr std::string_view name_of(Resampling resampling) {
  return std::find_if(kResamplingNames.begin(), kResamplingNames.end(),
                      [&](const auto& name) { return name.second == resampling; })
      ->first;
}

}  // namespace priornet
