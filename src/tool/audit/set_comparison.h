#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/transforms.h>
#include <priornet/learning/trivial_statistics.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tool/audit/duplicates.h"

namespace priornet {

struct ComparisonOptions {
  FitOptions fit;           ///< how OUT's images get IN's size
  bool invert_out = false;  ///< compare with OUT's images inverted
};

struct ComparedSet {
  std::string name;
  int64_t size = 0;
  std::vector<int64_t> shape;      ///< of one input before matching: {C, H, W}, or {D}
  std::vector<double> means;       ///< of each channel after matching, in [0, 1]; of each feature
  std::vector<double> deviations;  ///< likewise
  int64_t num_classes = 0;         ///< 0 without labels
  int64_t repeated = 0;            ///< inputs that repeat an earlier one of the set
};

/// How different two sets are without any network.
struct SetComparison {
  ComparedSet in;
  ComparedSet out;
  double prevalence = 0;          ///< OUT / (IN + OUT)
  std::string matching;           ///< how OUT's images got IN's shape; empty if they had it
  bool out_was_inverted = false;  ///< as the options asked

  /// For images those of trivial_statistics.h, for rows of numbers the features.
  std::vector<StatisticAuroc> statistics;
  /// The same with OUT's images inverted; empty for rows of numbers.
  std::vector<StatisticAuroc> inverted_statistics;
  /// The background is light in one set and dark in the other, and agrees once OUT is inverted.
  bool opposite_polarity = false;

  std::vector<DuplicatePair> exact_duplicates;  ///< inputs of OUT that are in IN
  std::vector<DuplicatePair> near_duplicates;   ///< further images of OUT that look like one of IN

  std::vector<std::string> out_classes_of_in;  ///< OUT's classes that are one of IN's, or a kind of it
  std::vector<std::string> in_classes_of_out;  ///< IN's classes that are one of OUT's, or a kind of it

  /// The trivial-statistics number, to stand beside every OOD result: what the best single statistic reaches.
  double trivial_auroc() const { return strongest_statistic().auroc; }
  const StatisticAuroc& strongest_statistic() const { return strongest(statistics); }
};

/// Compares IN with OUT, whose images are brought to IN's channels and size (fit_to). DataError, which begins with a
/// set's name, for an empty set, images against numbers, or other features.
SetComparison compare_sets(const Dataset& in, const Dataset& out, const ComparisonOptions& options = {});

/// The comparison in plain sentences, the most important first; AUROCs in percent.
std::vector<std::string> verdict(const SetComparison& comparison);

/// Everything in it with the verdict, as a JSON object; duplicates as a count and the first ten pairs.
std::string to_json(const SetComparison& comparison);

}  // namespace priornet
