#pragma once

#include <priornet/eval/delong.h>
#include <priornet/runs/evaluation.h>

#include <string>
#include <vector>

namespace priornet {

/// One task and measure, by two runs.
struct ComparedMeasure {
  std::string set;  ///< the out-of-distribution set; empty: misclassification
  std::string measure;
  PairedAuroc auroc;
};

/// Two evaluations of the same sets, for every measure that both have: out-of-distribution detection by DeLong's paired
/// test; misclassification, where each run has positives of its own, by the same components of each input
/// (docs/math.md, section 9). A task that one of them has not (no errors) is left out. ArgumentError unless names and
/// sizes of the sets are the same.
std::vector<ComparedMeasure> compare_runs(const Evaluation& first, const Evaluation& second);

}  // namespace priornet
