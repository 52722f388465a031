#pragma once

#include <priornet/uncertainty/detection.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/experiments/image_run.h"

namespace priornet {

/// The probability that Student's t, with so many degrees of freedom, is at least as far from 0 as t; within 1e-11
/// of its value for up to 1,000 of them. ArgumentError unless degrees >= 1.
double student_two_sided(double t, double degrees);

/// The quantile 0.975 of Student's t distribution, to 1e-9 of its value. ArgumentError unless degrees >= 1.
double student_t(double degrees);

/// Whether two means differ, if the variances may do so too: Welch's test.
struct WelchTest {
  Estimate difference;   ///< of the means, first less second, with its 95 % interval
  double degrees = 0.0;  ///< of freedom, by Welch and Satterthwaite; 0 if neither varies
  /// Two-sided, of the hypothesis that the means are equal. If they differ and neither varies, that cannot be tested:
  /// it and the ends of the interval are NaN.
  double p_value = 1.0;
};

/// ArgumentError unless both have at least two values.
WelchTest welch_test(const std::vector<double>& first, const std::vector<double>& second);

/// A number without an interval.
Estimate certain(double value);

/// How tables name a measure of the table of measures.
std::string label_of(std::string_view measure);

/// The mean over seeds with its 95 % interval by Student's t, which may reach beyond 0 or 1; for a single seed its own
/// estimate. ArgumentError if there is none.
Estimate over_seeds(const std::vector<Estimate>& seeds);

/// The standard error of that mean; of a single seed its own, `error_of_one`.
double error_over_seeds(const std::vector<Estimate>& seeds, double error_of_one);

/// A model's evaluation on the set at this place of ImageResult::outside, of any model that has it; nullptr if none
/// has.
const OutsideEvaluation* any_evaluation(const std::vector<ImageResult>& seeds, size_t set);

enum class CellMetric { kError, kAuroc, kAupr };

/// "error", "AUROC", "AUPR".
const char* name_of(CellMetric metric);

/// One number of the tables, in percent, with the published one beside it.
struct ResultCell {
  std::string outside;  ///< title of the set; empty: of misclassification detection, or the error
  std::string model;
  double sigma = 0.0;
  CellMetric metric = CellMetric::kAuroc;
  size_t measure = 0;  ///< of kPaperMeasures; of the error 0
  Estimate ours;       ///< over the seeds
  std::optional<double> published;
  bool counted_apart = false;  ///< the published number is most likely that of another measure
};

/// Every cell that our runs have: those of kPaperMeasures that a model gives. One result per seed, of one experiment.
/// The interval of an error of a single seed is Wilson's.
std::vector<ResultCell> result_cells(const std::vector<ImageResult>& seeds);

/// The main results of an experiment: errors, and the AUROC of the differential entropy for each set.
std::vector<ResultCell> headline_cells(const std::vector<ImageResult>& seeds);

}  // namespace priornet
