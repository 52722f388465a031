#include <priornet/eval/delong.h>
#include <priornet/eval/detection.h>
#include <priornet/eval/roc.h>

namespace priornet {
namespace {

Estimate with(double value, const Interval& interval) { return {value, interval.low, interval.high}; }

}  // namespace

Detection detect(const ScoreSets& scores, const BootstrapOptions& options) {
  check_scores("detect", scores);
  const Ranking ranking(scores);
  const auto metrics = roc_metrics(ranking);
  const auto intervals = bootstrap_intervals(ranking, options);
  return {.auroc = with(metrics.auroc, delong_interval(ranking)),
          .aupr = with(metrics.aupr, intervals.aupr),
          .average_precision = with(metrics.average_precision, intervals.average_precision),
          .fpr95 = with(metrics.fpr95, intervals.fpr95),
          .positives = ranking.positives(),
          .negatives = ranking.negatives(),
          .prevalence = metrics.prevalence,
          .replicates = options.replicates.value_or(default_replicates(ranking))};
}

}  // namespace priornet
