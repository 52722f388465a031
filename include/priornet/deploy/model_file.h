#pragma once

#include <priornet/learning/detector.h>
#include <priornet/learning/trained_run.h>
#include <priornet/uncertainty/decision.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

// One file that runs by itself: networks, weights, preprocessing, class names, detectors with what they learnt,
// operating points, provenance. It is a safetensors file (tensor_file.h) with its own version number. Loading it
// executes nothing, unless it holds a TorchScript network and the user allows that (OpenOptions).

namespace priornet {

/// What happens to an input before the network.
struct Preprocessing {
  std::vector<int64_t> shape;  ///< of one input: [C, H, W] for images, [D] for rows of numbers
  bool resize = true;          ///< images of another size are resized; otherwise refused
  FeatureScale scale;          ///< of rows of numbers
  std::vector<std::string> feature_names;
  std::shared_ptr<const TableEncoding> encoding = {};  ///< of a table: how its columns become numbers

  bool takes_images() const { return shape.size() == 3; }
};

/// For a model file without a network: what the user's own network gives. An input of such a model is a row of numbers:
/// the logits, member after member, then the features.
struct OwnLogits {
  int64_t members = 1;   ///< above 1, logits are [members, N, K]
  int64_t features = 0;  ///< that detectors look at, per input; 0: none
};

struct ModelFile {
  std::string name;  ///< as a server or a table calls it
  TrainedRun run;    ///< networks with weights, configuration, class names
  /// Set if there are no networks: the model judges logits from another program (judge_logits()). The method of the
  /// configuration says whether they are logits of Dirichlets.
  std::optional<OwnLogits> own_logits;
  Preprocessing preprocessing;
  int64_t dropout_samples = 0;  ///< passes with dropout on; 0: one without it
  /// Fitted detectors. Each adds a score to every prediction, beside the measures; operating points may watch it.
  std::vector<NamedDetector> detectors = {};
  std::optional<OperatingPoints> points;
  std::map<std::string, std::string> provenance;  ///< commit, version, set trained on, seed, date

  /// Whether an answer combines several passes: of members or of dropout samples.
  bool asks_several() const {
    return run.members.size() > 1 || dropout_samples > 0 || (own_logits && own_logits->members > 1);
  }
};

/// Throws ArgumentError, which begins with `function`, if there is no network, or if dropout is to be sampled and the
/// networks have none; DataError if the file holds no network.
void check_networks(const char* function, const ModelFile& model);

/// The file appears whole or not at all. ArgumentError for names of classes that no file may have: empty, twice the
/// same, or with control characters; and as check_networks(), unless the model is one of own_logits.
void write_model_file(const std::filesystem::path& path, const ModelFile& model);

/// Throws DataError, which names the file and the reason: not a model file, truncated, damaged, a newer version,
/// weights or detectors that do not fit the network, an unknown detector, a TorchScript program that is not allowed.
/// Each detector is tried on one blank input.
ModelFile read_model_file(const std::filesystem::path& path, const OpenOptions& options = {});

/// The model of a run, not calibrated. Its name is that of the folder. Throws DataError as load_run() does.
ModelFile model_of_run(const std::filesystem::path& folder, const OpenOptions& options = {});

/// The same for a run in memory.
ModelFile model_of_run(TrainedRun run, std::string name);

/// Opens a model file or the folder of a run. A model without a name gets the name of the file.
ModelFile open_model(const std::filesystem::path& path, const OpenOptions& options = {});

}  // namespace priornet
