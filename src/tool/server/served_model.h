#pragma once

#include <priornet/deploy/predictor.h>
#include <priornet/learning/images.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/drift.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tool/server/work_queues.h"

namespace priornet::serving {

/// A measure that watches for a cause, without its reference values.
struct WatchDescription {
  Verdict cause = Verdict::kUnfamiliar;
  std::string measure;
  double threshold = 0.0;
  std::vector<double> class_thresholds{};  ///< of each predicted class, if thresholds were set per class

  double threshold_for(int64_t predicted) const;
};

/// What clients may know about a model.
struct ModelDescription {
  std::string name;
  std::string method;
  std::vector<int64_t> shape;  ///< of one input: [C, H, W] of images, [D] of rows of numbers
  std::vector<std::string> class_names;
  std::vector<std::string> feature_names;  ///< of rows of numbers, if they are known
  std::vector<double> feature_means;       ///< and of what the model was trained on, if they are known
  std::vector<double> feature_deviations;
  std::shared_ptr<const TableEncoding> encoding = {};  ///< of a model of tables: its columns, by name
  std::vector<std::string> measures;                   ///< names of PlainPredictions::scores
  bool gives_dirichlet = false;
  bool calibrated = false;
  double false_alarm = 0.0;
  std::vector<WatchDescription> watches;
  std::map<std::string, std::string> provenance;

  bool takes_images() const { return shape.size() == 3; }
  int64_t values_per_row() const;
  /// Images are bytes, rows of numbers float32.
  int64_t bytes_per_row() const { return values_per_row() * (takes_images() ? 1 : 4); }
};

/// What the Open Inference Protocol calls a model's one input.
constexpr std::string_view kInputName = "input";

/// One output of the Open Inference Protocol.
struct OutputDescription {
  std::string name;
  std::string datatype;   ///< INT64, FP64 or BYTES
  bool by_class = false;  ///< [N, K], else [N]
};

/// In the order they are answered: prediction, probability, probabilities, alphas, the scores, p_value, verdict,
/// verdict_by.
std::vector<OutputDescription> outputs_of(const ModelDescription& model);

/// The metadata of the Open Inference Protocol, as JSON; anything beyond it stands in `parameters`.
std::string metadata_json(const ModelDescription& model);

/// Whether a model's inputs stopped looking like its calibration set (drift.h); calls from several threads.
class StreamDrift {
 public:
  explicit StreamDrift(DriftWatch watch) : watch_(std::move(watch)) {}

  void add(const PlainPredictions& answers);
  DriftState now() const;
  /// The value from which it is an alarm.
  double alarm_value() const { return 1.0 / watch_.rate(); }

 private:
  mutable std::mutex mutex_;
  DriftWatch watch_;
};

/// A model behind the server, whatever computes its answers.
struct ServedModel {
  ModelDescription description;
  Answerer answer;
  /// The bytes of an image file as one input of the model, and what its header says. DataError with the reason.
  std::function<std::string(std::string_view file)> input_of_image;
  std::function<ImageFacts(std::string_view file)> facts_of_image;
  std::shared_ptr<StreamDrift> drift = nullptr;  ///< null if the model is not calibrated
};

/// A predictor behind the server. Runs it once, so that the first client does not wait for its setup. One thread runs
/// small passes, whatever LibTorch is set to. `drift_rate`: of false alarms, for the stream of inputs.
ServedModel served_model(std::shared_ptr<Predictor> predictor, double drift_rate = 0.01);

/// Row `row` of the answers for a person, as JSON: prediction_json() with the verdict in words, the model's name, and
/// every class's name, probability and concentration (`alphas`, for Dirichlets). With a stream, its `drift`: value, how
/// many inputs it has seen, and which of them raised the alarm (0: none). `notes`: how the row differs from training,
/// in words.
std::string plain_answer(const ServedModel& model, const PlainPredictions& answers, int64_t row,
                         const std::vector<std::string>& notes = {});

/// All rows, for a person or a program: {"model", "class_names", "predictions": [...], "drift"} with prediction_json(),
/// the verdict in words, the probabilities, the concentrations (`alphas`, for Dirichlets) and the notes of each;
/// `notes` has one list per row.
std::string plain_answers(const ServedModel& model, const PlainPredictions& answers,
                          const std::vector<std::vector<std::string>>& notes);

/// The verdict in one or two sentences, with the measure that rejects the prediction.
std::string verdict_in_words(const ModelDescription& model, const PlainPredictions& answers, int64_t row);

}  // namespace priornet::serving
