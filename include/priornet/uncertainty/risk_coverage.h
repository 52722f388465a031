#pragma once

#include <span>
#include <vector>

// What rejecting the most uncertain predictions buys. uncertainty and error (1 for a wrong prediction, 0 for a right
// one, or any loss >= 0) of each of N >= 1 rows. Rows of one uncertainty are rejected together: each counts as their
// mean. Different lengths or values that are not numbers throw ArgumentError.

namespace priornet {

struct RiskCoverage {
  std::vector<double> coverage;  ///< share that is kept, from 1 / N to 1
  std::vector<double> risk;      ///< mean error of what is kept
  double area = 0.0;             ///< mean risk over the coverages (AURC; Geifman & El-Yaniv, 2017); 0 is perfect
  double excess = 0.0;           ///< area less that of an order which rejects every error first (E-AURC)
};
RiskCoverage risk_coverage(std::span<const double> uncertainty, std::span<const double> error);

/// Prediction-rejection ratio (Malinin et al., 2020): of the area between rejecting at random and rejecting every error
/// first, the share that this uncertainty gains. 1 is perfect, 0 is chance; NaN where there is no error, or nothing
/// else.
double prediction_rejection_ratio(std::span<const double> uncertainty, std::span<const double> error);

}  // namespace priornet
