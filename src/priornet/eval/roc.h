#pragma once

#include <priornet/eval/ranking.h>

// How well a score tells a positive from a negative set. At a threshold t, the inputs with score >= t are called
// positive: tp(t) of the P positives and fp(t) of the N negatives. Thresholds are the distinct scores, so equal scores
// are one point of a curve. Recall = TPR = tp / P, FPR = fp / N, precision = tp / (tp + fp).
// One sort, then linear: ten million scores take about a second.

namespace priornet {

struct RocMetrics {
  /// P(positive > negative) + P(positive = negative) / 2 for a random pair (mid-ranks); exact.
  double auroc = 0;
  /// Area under the precision-recall curve by trapezoids: sum over thresholds t_1 > t_2 > ... of
  /// (recall_i - recall_{i-1}) (precision_i + precision_{i-1}) / 2, with recall_0 = 0 and precision_0 = precision_1.
  double aupr = 0;
  /// The same area by steps: sum of (recall_i - recall_{i-1}) precision_i.
  double average_precision = 0;
  /// The smallest FPR of the thresholds with TPR >= 0.95.
  double fpr95 = 0;
  /// P / (P + N): the precision of a score that knows nothing.
  double prevalence = 0;
};

RocMetrics roc_metrics(const Ranking& ranking);

/// ArgumentError as check_scores.
RocMetrics roc_metrics(const ScoreSets& scores);

double auroc(const Ranking& ranking);

}  // namespace priornet
