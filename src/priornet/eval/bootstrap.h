#pragma once

#include <priornet/eval/interval.h>
#include <priornet/eval/ranking.h>

#include <cstdint>
#include <optional>

namespace priornet {

struct BootstrapOptions {
  std::optional<int64_t> replicates;  ///< at least 2; none: default_replicates
  uint64_t seed = 0;                  ///< the same seed gives the same intervals, whatever the number of threads
};

/// 1000, or 200 for more than a million scores, whose intervals are narrow anyway.
int64_t default_replicates(const Ranking& ranking);

/// Of the metrics of roc.h that have no ready formula.
struct BootstrapIntervals {
  Interval aupr;
  Interval average_precision;
  Interval fpr95;
};

/// Percentile intervals: the 2.5 and 97.5 % quantiles over replicates in which the positives and the negatives are each
/// resampled, so the prevalence stays. Parallel over replicates.
BootstrapIntervals bootstrap_intervals(const Ranking& ranking, const BootstrapOptions& options = {});

}  // namespace priornet
