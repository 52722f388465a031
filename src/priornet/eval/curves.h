#pragma once

#include <priornet/eval/ranking.h>

#include <cstddef>
#include <vector>

// The curves behind the areas of roc.h, as points to draw.

namespace priornet {

struct Curve {
  std::vector<double> x;
  std::vector<double> y;
};

/// FPR and TPR of every threshold, from (0, 0) to (1, 1).
Curve roc_curve(const Ranking& ranking);

/// Recall and precision of every threshold; before the first one recall 0 at its precision, as AUPR has it.
Curve precision_recall_curve(const Ranking& ranking);

struct ThinningOptions {
  size_t points = 200;      ///< at most, at least 2
  double tolerance = 5e-4;  ///< stop where no point that is left out lies further from the line than this
};

/// The points that matter most to the eye, first and last among them: again and again the one that lies furthest from
/// the line so far (Douglas and Peucker, 1973). ArgumentError for x and y of different lengths, or points < 2.
Curve thinned(const Curve& curve, const ThinningOptions& options = {});

}  // namespace priornet
