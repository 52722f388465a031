#pragma once

#include <priornet/deploy/decision.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace priornet {

struct Predictions;

/// What a model says of some inputs, row by row: Predictions of deploy/predictor.h without tensors, so that rows can be
/// written, or go through the network together with those of others and apart again.
struct Answers {
  int64_t rows = 0;
  int64_t classes = 0;
  std::vector<int64_t> prediction;
  std::vector<double> probability;
  std::vector<double> probabilities;        ///< [rows, classes]
  std::vector<double> log_alpha;            ///< [rows, classes]; empty of softmax models
  std::vector<std::vector<double>> scores;  ///< [rows] a measure, in the order of AnswerNames::measures
  std::vector<Decision> decisions;          ///< empty of models that were not calibrated

  /// Adds rows [begin, begin + count) of `from`, an answer of the same model.
  void append(const Answers& from, int64_t begin, int64_t count);

  /// [rows, classes]: the exponentials of log_alpha, as far as numbers go.
  std::vector<double> alphas() const;
};

Answers answers_of(const Predictions& said);

/// What the numbers of answers are called.
struct AnswerNames {
  const std::vector<std::string>& classes;
  const std::vector<std::string>& measures;
};

/// One row as every JSON of the project has it: prediction (the name of the class), probability, each measure by its
/// name and, of a model that was calibrated, p_value and verdict.
nlohmann::ordered_json answer_json(const AnswerNames& names, const Answers& answers, int64_t row);

}  // namespace priornet
