#include <priornet/uncertainty/curves.h>

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

/// A straight piece of the thinned curve, and the point on it that lies furthest away.
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
        c10::str("thinned: x and y should have the same length, found ", curve.x.size(), " and ", curve.y.size()));
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
  const auto count = static_cast<double>(bins.count);
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    // Not by the width of a bin: that of a tiny range rounds to 0.
    ++counts[static_cast<size_t>(std::clamp((value - bins.low) / range * count, 0.0, count - 1))];
  }
  return counts;
}

namespace {

void check(const char* function, std::span<const double> uncertainty, std::span<const double> error) {
  if (uncertainty.empty() || uncertainty.size() != error.size())
    throw ArgumentError(c10::str(function, ": uncertainty and error should have the same length, at least 1, found ",
                                 uncertainty.size(), " and ", error.size()));
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (std::any_of(uncertainty.begin(), uncertainty.end(), is_nan) || std::any_of(error.begin(), error.end(), is_nan))
    throw ArgumentError(c10::str(function, ": uncertainty and error should be numbers, found nan"));
}

// The errors from the most certain row to the least; rows that tie get the mean of their errors.
std::vector<double> ordered_errors(std::span<const double> uncertainty, std::span<const double> error) {
  std::vector<size_t> order(uncertainty.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return uncertainty[a] < uncertainty[b]; });
  std::vector<double> errors(order.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    double sum = 0.0;
    for (; end < order.size() && uncertainty[order[end]] == uncertainty[order[begin]]; ++end) sum += error[order[end]];
    std::fill(errors.begin() + static_cast<ptrdiff_t>(begin), errors.begin() + static_cast<ptrdiff_t>(end),
              sum / static_cast<double>(end - begin));
    begin = end;
  }
  return errors;
}

// Mean error of the first 1, 2, ..., N.
std::vector<double> risks(const std::vector<double>& errors) {
  std::vector<double> result(errors.size());
  double sum = 0.0;
  for (size_t i = 0; i < errors.size(); ++i) {
    sum += errors[i];
    result[i] = sum / static_cast<double>(i + 1);
  }
  return result;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> best_order(std::span<const double> error) {
  std::vector<double> sorted(error.begin(), error.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Area under the error that is left among all rows as they are rejected one by one, the last first.
double rejection_area(const std::vector<double>& errors) {
  double left = 0.0;
  double area = 0.0;
  for (const auto error : errors) {
    area += left + 0.5 * error;
    left += error;
  }
  return area;
}

}  // namespace

RiskCoverage risk_coverage(std::span<const double> uncertainty, std::span<const double> error) {
  check("risk_coverage", uncertainty, error);
  RiskCoverage curve;
  curve.risk = risks(ordered_errors(uncertainty, error));
  for (size_t i = 1; i <= curve.risk.size(); ++i)
    curve.coverage.push_back(static_cast<double>(i) / static_cast<double>(curve.risk.size()));
  curve.area = mean(curve.risk);
  curve.excess = curve.area - mean(risks(best_order(error)));
  return curve;
}

double prediction_rejection_ratio(std::span<const double> uncertainty, std::span<const double> error) {
  check("prediction_rejection_ratio", uncertainty, error);
  const double total = std::accumulate(error.begin(), error.end(), 0.0);
  const double chance = 0.5 * total * static_cast<double>(error.size());
  const double best = rejection_area(best_order(error));
  if (!(chance > best)) return std::numeric_limits<double>::quiet_NaN();
  return (chance - rejection_area(ordered_errors(uncertainty, error))) / (chance - best);
}

}  // namespace priornet
