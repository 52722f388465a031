#pragma once

#include <priornet/deploy/model_file.h>
#include <priornet/uncertainty/decision.h>

#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

struct Predictions;

/// What Predictions::scores of a model are called, in their order: the measures, then its detectors.
std::vector<std::string> score_names(const ModelFile& model);

/// What a model says about some inputs, row by row: Predictions without tensors, so that rows can be written, or
/// go through the network together with those of others and apart again.
struct PlainPredictions {
  int64_t rows = 0;
  int64_t classes = 0;
  std::vector<int64_t> prediction;
  std::vector<double> probability;
  std::vector<double> probabilities;        ///< [rows, classes]
  std::vector<double> log_alpha;            ///< [rows, classes]; empty of softmax models
  std::vector<std::vector<double>> scores;  ///< [rows] each, in the order of PredictionNames::scores
  std::vector<Decision> decisions;          ///< empty of models that were not calibrated

  /// Adds rows [begin, begin + count) of `from`, of the same model.
  void append(const PlainPredictions& from, int64_t begin, int64_t count);

  /// [rows, classes]: the exponentials of log_alpha, as far as numbers go.
  std::vector<double> alphas() const;
};

PlainPredictions plain_predictions(const Predictions& said);

/// What the numbers of predictions are called.
struct PredictionNames {
  const std::vector<std::string>& classes;
  const std::vector<std::string>& scores;
};

/// One row as every JSON of the project has it: prediction (the name of the class), probability, each score by its
/// name and, of a model that was calibrated, p_value, verdict and verdict_by: the score that spoke against the
/// prediction, "" where none did.
nlohmann::ordered_json prediction_json(const PredictionNames& names, const PlainPredictions& said, int64_t row);

/// What a model says of N inputs; tensors on the CPU.
struct Predictions {
  torch::Tensor prediction;         ///< int64 [N]
  torch::Tensor probability;        ///< float64 [N]: calibrated, of the predicted class
  torch::Tensor probabilities;      ///< float64 [N, K]: calibrated
  std::vector<NamedTensor> scores;  ///< float64 [N] each: the measures and the detectors
  torch::Tensor log_alpha;          ///< float64 [N, K]: logits of the (mean) Dirichlet; undefined of softmax models
  torch::Tensor logits;             ///< float64 [N, K], or [M, N, K] of several members or dropout samples
  std::vector<Decision> decisions;  ///< empty for a model that was not calibrated

  int64_t size() const { return prediction.size(0); }
  /// A score by its name, or null where the model does not give it.
  const torch::Tensor* score(std::string_view name) const;
  /// What one model said about several batches, at least one, as of one: the rows of the first, then those of the next.
  static Predictions joined(const std::vector<Predictions>& batches);
};

/// What a model says about logits, [N, K] of one network asked once, else [M, N, K], floating point: probabilities,
/// measures, the scores of its detectors and, where it was calibrated, decisions. `features`: floating point [N, F],
/// for detectors that look at them. ArgumentError for other shapes, DataError for logits that are not finite, a
/// detector that looks at more than is given, or a watch that they do not give.
Predictions judge_logits(const ModelFile& model, const torch::Tensor& logits, const torch::Tensor& features = {});

/// A model ready to answer. Calls from several threads are made one after the other. Where the network is elsewhere
/// (OwnLogits), its inputs are rows of logits and features.
class Predictor {
 public:
  explicit Predictor(ModelFile model);

  /// `inputs`: images uint8 [N, C, H, W] of the model's shape (see fitted()), or rows of numbers float32 [N, D] as the
  /// user has them. The answer for an input does not depend on the others of its batch beyond rounding.
  /// ArgumentError for other shapes.
  Predictions predict(const torch::Tensor& inputs);

  /// An image uint8 [C, H, W] of any size as the model takes it. DataError if it may not be resized, or has channels
  /// that cannot be matched.
  torch::Tensor fitted(const torch::Tensor& image) const;

  /// The same of the bytes of an image file, called `name` where they are none. DataError.
  torch::Tensor decoded(std::string_view bytes, const std::string& name) const;

  const ModelFile& model() const { return model_; }

 private:
  ModelFile model_;
  std::mutex one_at_a_time_;
};

}  // namespace priornet
