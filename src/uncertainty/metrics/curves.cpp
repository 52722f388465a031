#include <priornet/uncertainty/curves.h>

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

/// A straight piece of the thinned curve, and the point below it that lies furthest away.
struct Chord {
  size_t first;
  size_t last;
  size_t furthest;
  double distance;

  bool operator<(const Chord& other) const { return distance < other.distance; }
};

Chord chord_between(const Curve& curve, size_t first, size_t last) {
  Chord chord{first, last, first, 0.0};
  const double dx = curve.x[last] - curve.x[first];
  const double dy = curve.y[last] - curve.y[first];
  const double length = std::hypot(dx, dy);
  for (size_t i = first + 1; i < last; ++i) {
    const double x = curve.x[i] - curve.x[first];
    const double y = curve.y[i] - curve.y[first];
    const double distance = length > 0 ? std::abs(dx * y - dy * x) / length : std::hypot(x, y);
    if (distance > chord.distance) {
      chord.distance = distance;
      chord.furthest = i;
    }
  }
  return chord;
}

}  // namespace

Curve roc_curve(const Ranking& ranking) {
  Curve curve{{0.0}, {0.0}};
  int64_t tp = 0;
  int64_t fp = 0;
  ranking.for_each_group([&](int64_t positives, int64_t negatives) {
    tp += positives;
    fp += negatives;
    curve.x.push_back(static_cast<double>(fp) / static_cast<double>(ranking.negatives()));
    curve.y.push_back(static_cast<double>(tp) / static_cast<double>(ranking.positives()));
  });
  return curve;
}

Curve precision_recall_curve(const Ranking& ranking) {
  Curve curve;
  int64_t tp = 0;
  int64_t fp = 0;
  ranking.for_each_group([&](int64_t positives, int64_t negatives) {
    tp += positives;
    fp += negatives;
    const double precision = static_cast<double>(tp) / static_cast<double>(tp + fp);
    if (curve.x.empty()) {
      curve.x.push_back(0.0);
      curve.y.push_back(precision);
    }
    curve.x.push_back(static_cast<double>(tp) / static_cast<double>(ranking.positives()));
    curve.y.push_back(precision);
  });
  return curve;
}

Curve thinned(const Curve& curve, const ThinningOptions& options) {
  if (curve.x.size() != curve.y.size())
    throw ArgumentError(
        c10::str("thinned: x and y should be of one length, found ", curve.x.size(), " and ", curve.y.size()));
  check_range("thinned", "points", options.points >= 2, "at least 2", static_cast<double>(options.points));
  if (curve.x.size() <= 2) return curve;
  std::vector<size_t> kept{0, curve.x.size() - 1};
  std::priority_queue<Chord> chords;
  chords.push(chord_between(curve, 0, curve.x.size() - 1));
  while (kept.size() < options.points && chords.top().distance > options.tolerance) {
    const auto chord = chords.top();
    chords.pop();
    kept.push_back(chord.furthest);
    chords.push(chord_between(curve, chord.first, chord.furthest));
    chords.push(chord_between(curve, chord.furthest, chord.last));
  }
  std::sort(kept.begin(), kept.end());
  Curve result;
  for (const auto i : kept) {
    result.x.push_back(curve.x[i]);
    result.y.push_back(curve.y[i]);
  }
  return result;
}

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
