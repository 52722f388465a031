#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/eval/bootstrap.h>
#include <priornet/eval/resampling.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

// Between order statistics by straight lines, as NumPy's default does.
double quantile(const std::vector<double>& sorted, double probability) {
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - std::floor(position)) * (sorted[above] - sorted[below]);
}

Interval percentiles(std::vector<double>& replicates) {
  std::sort(replicates.begin(), replicates.end());
  return {quantile(replicates, 0.025), quantile(replicates, 0.975)};
}

}  // namespace

int64_t default_replicates(const Ranking& ranking) { return ranking.order().size() > 1000000 ? 200 : 1000; }

BootstrapIntervals bootstrap_intervals(const Ranking& ranking, const BootstrapOptions& options) {
  const auto count = options.replicates.value_or(default_replicates(ranking));
  if (count < 2)
    throw ArgumentError(fmt::format("bootstrap_intervals: replicates should be at least 2, found {}", count));
  const auto size = static_cast<size_t>(count);
  std::vector<double> aupr(size);
  std::vector<double> average_precision(size);
  std::vector<double> fpr95(size);

  const Resampler resampler(ranking, options.seed);
  const bool worth_threads = size * ranking.order().size() > 100000;
#pragma omp parallel for schedule(dynamic) if (worth_threads)
  for (int64_t i = 0; i < count; ++i) {
    Resampler::Replicate replicate(resampler, i);
    CurveWalk walk(ranking, replicate.totals());
    for (int64_t block = 0; block < resampler.blocks(); ++block)
      walk.add(resampler.order(block), replicate.weights(block));
    const auto at = static_cast<size_t>(i);
    aupr[at] = walk.aupr();
    average_precision[at] = walk.average_precision();
    fpr95[at] = walk.fpr95();
  }
  return {percentiles(aupr), percentiles(average_precision), percentiles(fpr95)};
}

}  // namespace priornet
