#pragma once

#include <priornet/uncertainty/detection.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// The curves behind the areas of detection.h, as points to draw.

namespace priornet {

struct Curve {
  std::vector<double> x;
  std::vector<double> y;
};

/// FPR and TPR of every threshold, from (0, 0) to (1, 1).
Curve roc_curve(const Ranking& ranking);

/// Recall and precision of every threshold; before the first one, recall 0 with the precision of the first, as in AUPR.
Curve precision_recall_curve(const Ranking& ranking);

struct ThinningOptions {
  size_t points = 200;      ///< at most, at least 2
  double tolerance = 5e-4;  ///< stop when every point left out lies closer to the line than this
};

/// The points that matter most to the eye, first and last among them: again and again the one that lies furthest from
/// the line so far (Douglas and Peucker, 1973). ArgumentError for x and y of different lengths, or points < 2.
Curve thinned(const Curve& curve, const ThinningOptions& options = {});

/// Bins of equal width from low to high.
struct HistogramBins {
  double low = 0.0;
  double high = 1.0;
  int64_t count = 60;
};

/// Bins for several sets of values, from the least to the greatest. A thousandth of each set on either side does not
/// widen them. Values that are not finite are ignored; if there are no others the bins cover [0, 1].
HistogramBins shared_bins(const std::vector<std::span<const double>>& sets, int64_t count = 60);

/// How many values lie in each bin. Values beyond the bins count in the first or last one; values that are not finite
/// count in none. ArgumentError for count < 1, or a high that is not above low by a finite number.
std::vector<int64_t> histogram(std::span<const double> values, const HistogramBins& bins);

// What rejecting the most uncertain predictions gains. uncertainty and error (1 for a wrong prediction, 0 for a right
// one, or any loss >= 0) of each of N >= 1 rows. Rows of one uncertainty are rejected together: each counts as their
// mean. Different lengths or values that are not numbers throw ArgumentError.

struct RiskCoverage {
  std::vector<double> coverage;  ///< share that is kept, from 1 / N to 1
  std::vector<double> risk;      ///< mean error of what is kept
  double area = 0.0;             ///< mean risk over the coverages (AURC; Geifman & El-Yaniv, 2017); 0 is perfect
  double excess = 0.0;           ///< area less that of an order which rejects every error first (E-AURC)
};
RiskCoverage risk_coverage(std::span<const double> uncertainty, std::span<const double> error);

/// Prediction-rejection ratio (Malinin et al., 2020): the area between rejecting at random and rejecting every error
/// first, and the share of it that this uncertainty gains. 1 is perfect, 0 is chance; NaN if there are no errors, or
/// only errors.
double prediction_rejection_ratio(std::span<const double> uncertainty, std::span<const double> error);

}  // namespace priornet
