#pragma once

#include <priornet/learning/classifier.h>
#include <priornet/learning/progress.h>
#include <priornet/uncertainty/measure_table.h>
#include <priornet/uncertainty/named_tensor.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// A detector scores how strange an input is, from what one pass through the networks gives. It may learn from training
// inputs first; what it learnt is a list of tensors, which a model file keeps. The table below has ours, every measure
// among them (measure_table.h); register_detector adds others. Formulas stand in docs/math.md, section 9.

namespace priornet {

struct AskOptions;
struct TrainedRun;

/// What a detector looks at, of N inputs; tensors lie on the networks' device.
struct DetectorInputs {
  torch::Tensor inputs;                    ///< as networks take them: rows of numbers standardised, images in [-1, 1]
  torch::Tensor logits;                    ///< [N, K], or [M, N, K] of several members or dropout samples
  torch::Tensor features = {};             ///< float32 [N, F] of the first network; undefined where it gives none
  std::vector<torch::Tensor> layers = {};  ///< Activations::layers of the first network
  torch::Tensor labels = {};               ///< int64 [N], where a detector is fitted
  bool dirichlet = false;                  ///< whether the logits are those of Dirichlets
  /// For detectors that run the networks again: the members of a run.
  const std::vector<std::shared_ptr<Classifier>>* networks = nullptr;
};

class Detector {
 public:
  virtual ~Detector() = default;

  /// Learns from training inputs, which have labels. Unless overridden there is nothing to learn.
  virtual void fit(const DetectorInputs& training);
  /// float64 [N], larger where an input is stranger, or as DetectorInfo::direction says. ArgumentError for inputs of
  /// another shape than those it was fitted on, or before it is fitted.
  virtual torch::Tensor score(const DetectorInputs& batch) const = 0;

  /// What it learnt.
  const std::vector<NamedTensor>& state() const { return state_; }
  /// The same from a file. ArgumentError if a tensor is missing, too many, not finite, or does not fit the others.
  void set_state(std::vector<NamedTensor> state);
  void to(const torch::Device& device);

 protected:
  /// The tensors that fit() keeps, with their ranks; set_state() calls it with the state in place.
  struct Part {
    std::string name;
    int64_t rank = 1;
  };
  virtual std::vector<Part> parts() const { return {}; }
  /// ArgumentError for tensors that do not fit each other; called when all parts are there.
  virtual void check_state() const {}
  void keep(std::string name, torch::Tensor values);
  /// ArgumentError if there is no such part.
  const torch::Tensor& part(std::string_view name) const;
  /// Undefined where it is not there.
  torch::Tensor part_or_none(std::string_view name) const;

 private:
  std::vector<NamedTensor> state_;
};

/// What a detector needs.
struct DetectorNeeds {
  bool training = false;    ///< it is fitted
  bool features = false;    ///< Classifier::gives_features
  bool layers = false;      ///< Classifier::gives_layers
  bool rows = false;        ///< inputs that are rows of numbers
  bool images = false;      ///< inputs that are images
  bool gradients = false;   ///< of the networks: it runs passes of its own
  bool last_layer = false;  ///< of the networks, which it runs again
};

/// A row of the table of detectors.
struct DetectorInfo {
  std::string name;   ///< in files, columns, JSON and options
  std::string label;  ///< on pages
  Direction direction = Direction::kUncertainty;
  Cause cause = Cause::kDistributional;  ///< what a high score points to
  DetectorNeeds needs = {};
  std::function<std::unique_ptr<Detector>()> make;
  bool is_measure = false;  ///< a column of every evaluation and prediction, whichever detectors are asked for
};

/// Every measure that ranks inputs, then the others.
const std::vector<DetectorInfo>& detector_table();

/// Null for a name that the table does not have.
const DetectorInfo* find_detector(std::string_view name);

/// Adds your own detector: `calibrate`, `evaluate` and model files know it by its name from then on. Call it before
/// anything else asks for detectors, in each program that opens such a model file. ArgumentError for a name that is
/// taken or empty, a score that does not grow with strangeness, or a missing `make`.
void register_detector(DetectorInfo info);

/// Why a detector cannot work with this network; empty if it can. Measures always work.
std::string why_not(const DetectorInfo& info, const Classifier& network);

/// The detectors that work with a network, without measures and, unless `gradients`, without those that need gradients.
std::vector<std::string> usable_detectors(const Classifier& network, bool gradients = true);

/// The same two functions where there is no network: another program computed the logits and perhaps the features.
std::string why_not_without_network(const DetectorInfo& info, bool features);
std::vector<std::string> usable_without_network(bool features);

/// The detectors that call inputs "unfamiliar" beside a measure, by the kind of network. For rows of numbers: one that
/// looks at the columns. For images: one that looks at the maps inside the network, or else at its features, or else at
/// the images.
std::vector<std::string> watched_detectors(const Classifier& network);

/// A detector with its name, fitted or read from a file.
struct NamedDetector {
  std::string name;
  std::shared_ptr<Detector> detector;
};

/// Makes a detector by name. ArgumentError for a name that the table does not have, and for a measure.
NamedDetector make_detector(const std::string& name);

/// How many training inputs detectors learn from, and how many of them the k-nearest-neighbours detector keeps.
constexpr int64_t kDetectorTraining = 10'000;
constexpr int64_t kNeighbourReferences = 5'000;

/// Whether one of the detectors looks at the maps inside a network.
bool need_layers(const std::vector<NamedDetector>& detectors);

/// Inputs that networks learnt from, for detectors to learn from.
struct DetectorTraining {
  torch::Tensor inputs;  ///< [N, ...]: images uint8, rows of numbers standardised
  torch::Tensor labels;  ///< int64 [N]
  bool dirichlet = false;
  uint64_t seed = 0;
  torch::Tensor rows = {};  ///< as Dataset::rows
};

/// The named detectors, made and fitted in one pass over the inputs: up to kDetectorTraining of them, drawn by the
/// seed, and fewer where large images would take more than a gigabyte.
std::vector<NamedDetector> fit_detectors(const std::vector<std::string>& names,
                                         const std::vector<std::shared_ptr<Classifier>>& networks,
                                         const DetectorTraining& training, Progress& progress);

/// The named detectors, fitted to what networks gave for inputs that they learnt from. All rows are used, in any order;
/// `knn` keeps kNeighbourReferences of them, at equal distances.
std::vector<NamedDetector> fit_detectors(const std::vector<std::string>& names, const DetectorInputs& training);

/// Reads the set that a run learnt from again. DataError if the set is gone or if its rows have changed.
DetectorTraining training_of(const TrainedRun& run, Progress& progress);

/// The same on training_of(run).
std::vector<NamedDetector> fit_detectors(const std::vector<std::string>& names, const TrainedRun& run,
                                         Progress& progress);

/// Detectors that look at inputs alone, fitted on all inputs, with cross-validated scores: the inputs are split at
/// random into `parts` parts, and each part is scored by detectors that learnt from the other parts. Such scores are
/// like those of new inputs (a little larger, because these detectors learnt from fewer). A network's features of its
/// own training inputs are not like those of new inputs, so detectors of features and maps have no such scores.
struct CrossValidation {
  std::vector<NamedDetector> detectors;
  std::vector<NamedTensor> columns;  ///< float64 [N] on the CPU, in the order of the detectors
};
constexpr int64_t kCrossValidationParts = 20;

/// Whether a detector looks at inputs alone.
bool judges_inputs_alone(const DetectorInfo& info);

/// `inputs`: [N, ...] as networks take them; `labels`: int64 [N]. ArgumentError for fewer than 4 inputs, or a detector
/// that looks at more than inputs.
CrossValidation cross_validate(const std::vector<std::string>& names, const torch::Tensor& inputs,
                               const torch::Tensor& labels, int64_t parts = kCrossValidationParts);

/// The scores of one batch as columns, float64 [N] on the CPU, in the order of the detectors.
std::vector<NamedTensor> detector_columns(const std::vector<NamedDetector>& detectors, const DetectorInputs& batch);

/// Collects the scores of a whole set in the pass that gives its logits (inference.h). Without detectors it does
/// nothing.
class DetectorPass {
 public:
  /// The arguments must outlive this object.
  DetectorPass(const std::vector<NamedDetector>& detectors, const std::vector<std::shared_ptr<Classifier>>& networks,
               bool dirichlet);
  /// This object must outlive `ask`.
  void join(AskOptions& ask);
  /// float64 [N] each, of all rows seen since join().
  std::vector<NamedTensor> columns() const;

 private:
  const std::vector<NamedDetector>& detectors_;
  const std::vector<std::shared_ptr<Classifier>>& networks_;
  bool dirichlet_;
  std::vector<std::vector<torch::Tensor>> parts_;
};

}  // namespace priornet
