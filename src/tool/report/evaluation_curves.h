#pragma once

#include <priornet/learning/evaluation.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// What a report draws from evaluations, thinned so that it can be kept with the results: a curve has at most 200
// points, a histogram 60 bins.

namespace priornet {

struct DrawnModel {
  std::string name;
  double sigma = 0.0;         ///< of the noise on its inputs
  std::filesystem::path run;  ///< its folder, for the training curves; those of an ensemble are its first member's
  const Evaluation* evaluation = nullptr;  ///< with its scores
};

struct DrawnSets {
  uint64_t seed = 0;
  std::string inside;                ///< title
  std::vector<std::string> outside;  ///< titles, in the order of Evaluation::outside
};

/// JSON: {"seed", "sets", "models"}. For each model: what training reported, reliability in 15 bins of equal width, and
/// one row per measure (all columns of the scores but `precision`): histograms per set and of the misclassified, risk
/// against coverage, and one task for misclassification and for each outside set, with ROC and precision-recall curves;
/// null if there is no such task.
std::string curves_json(const DrawnSets& sets, const std::vector<DrawnModel>& models);

/// 15 bins of equal width: [{"rows", "confidence", "accuracy"}]. `probabilities` float64 [N, K]; `wrong` bool [N]: the
/// rows whose most probable class is not their label.
nlohmann::ordered_json reliability_json(const torch::Tensor& probabilities, const torch::Tensor& wrong);

/// {"aurc", "points": [coverage, risk]}, thinned. `score` float64 [N], high for inputs that are rejected first.
nlohmann::ordered_json risk_json(const torch::Tensor& score, const torch::Tensor& wrong);

}  // namespace priornet
