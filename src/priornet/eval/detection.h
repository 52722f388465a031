#pragma once

#include <priornet/eval/bootstrap.h>
#include <priornet/eval/score_sets.h>

#include <cstdint>

namespace priornet {

/// A metric with its 95 % interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// How well a score detects the positive set. Metrics as in roc.h; intervals by DeLong for AUROC (delong.h), by
/// bootstrap for the others (bootstrap.h).
struct Detection {
  Estimate auroc;
  Estimate aupr;
  Estimate average_precision;
  Estimate fpr95;
  int64_t positives = 0;
  int64_t negatives = 0;
  double prevalence = 0;
  int64_t replicates = 0;  ///< of the bootstrap
};

/// ArgumentError as check_scores. Ten million scores take seconds.
Detection detect(const ScoreSets& scores, const BootstrapOptions& options = {});

}  // namespace priornet
