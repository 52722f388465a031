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

/// The names of Predictions::scores, in their order: the measures, then the model's detectors.
std::vector<std::string> score_names(const ModelFile& model);

/// What a model says about some inputs, row by row: Predictions without tensors, so that rows can be written, or joined
/// into one batch and separated again.
struct PlainPredictions {
  int64_t rows = 0;
  int64_t classes = 0;
  std::vector<int64_t> prediction;
  std::vector<double> probability;
  std::vector<double> probabilities;        ///< [rows, classes]
  std::vector<double> log_alpha;            ///< [rows, classes]; empty for softmax models
  std::vector<std::vector<double>> scores;  ///< [rows] each, in the order of PredictionNames::scores
  std::vector<Decision> decisions;          ///< empty if the model was not calibrated

  /// Adds rows [begin, begin + count) of `from`, of the same model.
  void append(const PlainPredictions& from, int64_t begin, int64_t count);

  /// [rows, classes]: the exponentials of log_alpha; at most the largest finite number.
  std::vector<double> alphas() const;
};

PlainPredictions plain_predictions(const Predictions& said);

/// The names that go with predictions.
struct PredictionNames {
  const std::vector<std::string>& classes;
  const std::vector<std::string>& scores;
};

/// One row in the form of every JSON of the project: prediction (the name of the class), probability, each score by its
/// name and, if the model was calibrated, p_value, verdict and verdict_by: the score that rejected the input, "" if
/// none did.
nlohmann::ordered_json prediction_json(const PredictionNames& names, const PlainPredictions& said, int64_t row);

/// What a model says about N inputs; tensors on the CPU.
struct Predictions {
  torch::Tensor prediction;         ///< int64 [N]
  torch::Tensor probability;        ///< float64 [N]: calibrated, of the predicted class
  torch::Tensor probabilities;      ///< float64 [N, K]: calibrated
  std::vector<NamedTensor> scores;  ///< float64 [N] each: the measures and the detectors
  torch::Tensor log_alpha;          ///< float64 [N, K]: logits of the (mean) Dirichlet; undefined for softmax models
  torch::Tensor logits;             ///< float64 [N, K], or [M, N, K] of several members or dropout samples
  std::vector<Decision> decisions;  ///< empty for a model that was not calibrated

  int64_t size() const { return prediction.size(0); }
  /// A score by its name, or null if the model does not give it.
  const torch::Tensor* score(std::string_view name) const;
  /// Joins the answers of one model to several batches (at least one): the rows of the first, then those of the next.
  static Predictions joined(const std::vector<Predictions>& batches);
};

/// What a model says about logits, floating point: [N, K] for one network and one pass, otherwise [M, N, K]. Gives
/// probabilities, measures, the scores of the detectors and, if the model was calibrated, decisions. `features`:
/// floating point [N, F], for detectors that look at features. Throws ArgumentError for other shapes; DataError if
/// logits are not finite, or if a detector or a watch needs something that was not given.
Predictions judge_logits(const ModelFile& model, const torch::Tensor& logits, const torch::Tensor& features = {});

/// What the model says now about inputs that it judged before it had these thresholds: the same scores, other
/// probabilities and decisions. The network does not run again.
Predictions judge_again(const ModelFile& model, const Predictions& said);

/// A model ready to answer. Calls from several threads run one after the other. If the file holds no network
/// (OwnLogits), the inputs are rows of logits and features.
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

  /// The same for the bytes of an image file. Throws DataError, which begins with `name`, if they are not an image.
  torch::Tensor decoded(std::string_view bytes, const std::string& name) const;

  const ModelFile& model() const { return model_; }

 private:
  ModelFile model_;
  std::mutex one_at_a_time_;
};

}  // namespace priornet
