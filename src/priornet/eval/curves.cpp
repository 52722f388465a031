#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/eval/curves.h>

#include <algorithm>
#include <cmath>
#include <queue>

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
        fmt::format("thinned: x and y should be of one length, found {} and {}", curve.x.size(), curve.y.size()));
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

}  // namespace priornet
