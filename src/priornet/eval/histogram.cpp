#include <priornet/core/checks.h>
#include <priornet/eval/histogram.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace priornet {
namespace {

constexpr double kTail = 0.001;

std::vector<double> finite_sorted(std::span<const double> values) {
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
               [](double value) { return std::isfinite(value); });
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

HistogramBins shared_bins(const std::vector<std::span<const double>>& sets, int64_t count) {
  check_range("shared_bins", "count", count >= 1, "at least 1", static_cast<double>(count));
  HistogramBins bins{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), count};
  for (const auto& set : sets) {
    const auto sorted = finite_sorted(set);
    if (sorted.empty()) continue;
    const auto last = static_cast<double>(sorted.size() - 1);
    bins.low = std::min(bins.low, sorted[static_cast<size_t>(std::floor(kTail * last))]);
    bins.high = std::max(bins.high, sorted[static_cast<size_t>(std::ceil((1 - kTail) * last))]);
  }
  if (bins.low > bins.high) return {0.0, 1.0, count};
  // One value alone is a bin of its own, also where adding 1 does not change it.
  if (bins.low == bins.high)
    bins.high = std::max(bins.low + 1, std::nextafter(bins.low, std::numeric_limits<double>::infinity()));
  return bins;
}

std::vector<int64_t> histogram(std::span<const double> values, const HistogramBins& bins) {
  check_range("histogram", "count", bins.count >= 1, "at least 1", static_cast<double>(bins.count));
  const double range = bins.high - bins.low;
  check_range("histogram", "high - low", range > 0 && std::isfinite(range), "positive and finite", range);
  std::vector<int64_t> counts(static_cast<size_t>(bins.count));
  const double width = range / static_cast<double>(bins.count);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const double bin = std::clamp(std::floor((value - bins.low) / width), 0.0, static_cast<double>(bins.count - 1));
    ++counts[static_cast<size_t>(bin)];
  }
  return counts;
}

}  // namespace priornet
