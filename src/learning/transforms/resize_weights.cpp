#include "learning/transforms/resize_weights.h"

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

double cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

}  // namespace

FilterWeights filter_weights(int64_t from, int64_t to, Resampling resampling) {
  const bool is_cubic = resampling == Resampling::kBicubic;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double widening = std::max(scale, 1.0);
  const double support = (is_cubic ? 2.0 : 1.0) * widening;
  const double narrowing = 1.0 / widening;

  FilterWeights result;
  result.taps = 2 * static_cast<int64_t>(std::ceil(support)) + 1;
  result.weight.resize(to * result.taps);
  std::vector<double> exact(result.taps);
  for (int64_t place = 0; place < to; ++place) {
    const double centre = (static_cast<double>(place) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5));
    const int64_t last = std::min<int64_t>(from, static_cast<int64_t>(centre + support + 0.5));
    double sum = 0;
    for (int64_t i = first; i < last; ++i) {
      const double x = (static_cast<double>(i) - centre + 0.5) * narrowing;
      exact[i - first] = is_cubic ? cubic(x) : triangle(x);
      sum += exact[i - first];
    }
    for (int64_t i = 0; i < last - first; ++i) {
      const double units = exact[i] / sum * (1 << FilterWeights::kFractionBits);
      result.weight[place * result.taps + i] = static_cast<int32_t>(units < 0 ? units - 0.5 : units + 0.5);
    }
    result.first.push_back(first);
    result.count.push_back(last - first);
  }
  return result;
}

}  // namespace priornet
