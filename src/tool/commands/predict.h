#pragma once

#include <priornet/deploy/inputs.h>
#include <priornet/deploy/predictor.h>

#include <string>

namespace priornet::tool {

/// Predictions as text, one line per input. `format` is table, csv or jsonl.
class PredictionRows {
 public:
  PredictionRows(const ModelFile& model, std::string format);

  /// The text above the rows.
  std::string header() const;
  std::string row(const Input& input, const PlainPredictions& answers, int64_t at) const;
  /// The line for an input that could not be read.
  std::string error(const Input& input) const;

 private:
  struct Shown {
    std::string title;
    size_t score;  ///< of scores_
  };

  const ModelFile& model_;
  std::string format_;
  std::vector<std::string> scores_;  ///< the names of all of them
  size_t class_width_ = 16;          ///< of the table's column of classes
  std::vector<Shown> shown_;         ///< those of the table: data, distributional, model uncertainty
};

}  // namespace priornet::tool
