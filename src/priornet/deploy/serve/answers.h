#pragma once

#include <priornet/deploy/decision.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace priornet::serving {

/// What a model says of some inputs, row by row: Predictions of deploy/predictor.h without tensors, so that rows of
/// several requests can go through the network together and apart again.
struct Answers {
  int64_t rows = 0;
  int64_t classes = 0;
  std::vector<int64_t> prediction;
  std::vector<double> probability;
  std::vector<double> probabilities;        ///< [rows, classes]
  std::vector<double> log_alpha;            ///< [rows, classes]; empty of softmax models
  std::vector<std::vector<double>> scores;  ///< [rows] a measure, in the order of ModelDescription::measures
  std::vector<Decision> decisions;          ///< empty of models that were not calibrated

  /// Adds rows [begin, begin + count) of `from`, an answer of the same model.
  void append(const Answers& from, int64_t begin, int64_t count);
};

/// Asks a model: `inputs` holds `rows` inputs one after the other, in the bytes of the model's input type.
using Answerer = std::function<Answers(const std::string& inputs, int64_t rows)>;

}  // namespace priornet::serving
