#pragma once

#include <priornet/eval/delong.h>
#include <priornet/eval/detection.h>
#include <priornet/experiments/image_experiment.h>
#include <priornet/runs/evaluation.h>

#include <string_view>
#include <vector>

namespace priornet {

/// Two models on the same inputs.
struct ModelComparison {
  PlannedComparison plan;
  std::vector<PairedAuroc> sets;  ///< a set each: of out-of-distribution detection
};

/// DeLong's paired test on each out-of-distribution set of two evaluations of the same sets, each model by a measure of
/// its own, confidences negated. ArgumentError where one has no such measure.
std::vector<PairedAuroc> compare_detection(const Evaluation& first, std::string_view first_measure,
                                           const Evaluation& second, std::string_view second_measure);

/// First less second, with its 95 % interval.
Estimate difference(const PairedAuroc& pair);

}  // namespace priornet
