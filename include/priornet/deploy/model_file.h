#pragma once

#include <priornet/learning/detector.h>
#include <priornet/learning/trained_run.h>
#include <priornet/uncertainty/decision.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

// What things are called in a model file, for whoever writes and whoever reads it.

namespace priornet::model_layout {

/// 2: detectors, thresholds per class, scales with drawn-in tails, tables, files without networks; watches have a
/// precedence, which those of version 1 have not (0).
constexpr int kVersion = 2;
constexpr const char* kVersionKey = "priornet_model";
constexpr const char* kModelKey = "model";

constexpr const char* kMean = "preprocessing.mean";
constexpr const char* kDeviation = "preprocessing.deviation";
constexpr const char* kCombined = "combined";

constexpr const char* kProgram = "program";

inline std::string member_prefix(size_t member) { return "member-" + std::to_string(member + 1) + "."; }
inline std::string group_prefix(size_t group) { return "group-" + std::to_string(group + 1) + "."; }
inline std::string detector_prefix(size_t detector) { return "detector-" + std::to_string(detector + 1) + "."; }
inline std::string reference_of(size_t watch) { return "watch-" + std::to_string(watch + 1) + ".reference"; }

}  // namespace priornet::model_layout

// One file that runs by itself: networks, weights, preprocessing, class names, detectors with what they learnt,
// operating points, provenance. It is a safetensors file (tensor_file.h) with a version of its own; loading one
// executes nothing, unless it holds a TorchScript network and the user allows it (OpenOptions).

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

/// Of a model whose network is elsewhere: what that network gives. An input of such a model is a row of numbers: the
/// logits, member after member, then the features.
struct OwnLogits {
  int64_t members = 1;   ///< above 1, logits are [members, N, K]
  int64_t features = 0;  ///< that detectors look at, per input; 0: none
};

struct ModelFile {
  std::string name;  ///< as a server or a table calls it
  TrainedRun run;    ///< networks with weights, configuration, class names
  /// Set where there are no networks: logits are judged (judge_logits()), whoever computed them. The method of the
  /// configuration says whether they are those of Dirichlets.
  std::optional<OwnLogits> own_logits;
  Preprocessing preprocessing;
  int64_t dropout_samples = 0;  ///< passes with dropout on; 0: one without it
  /// Fitted ones, each a score of every prediction beside the measures; operating points may watch them.
  std::vector<NamedDetector> detectors = {};
  std::optional<OperatingPoints> points;
  std::map<std::string, std::string> provenance;  ///< commit, version, set trained on, seed, date

  /// Whether its answer is put together from several: of members or of dropout samples.
  bool asks_several() const {
    return run.members.size() > 1 || dropout_samples > 0 || (own_logits && own_logits->members > 1);
  }
};

/// ArgumentError, opened by `function`, unless there are networks, and dropout where it is sampled; DataError if the
/// network is elsewhere.
void check_networks(const char* function, const ModelFile& model);

/// Whole or not at all.
void write_model_file(const std::filesystem::path& path, const ModelFile& model);

/// DataError that names the file and the reason: no model file, truncated, damaged, of a newer version, weights or
/// detectors that do not fit the network it describes, a detector that this program does not know, a program that is
/// not allowed. Detectors are asked about one blank input.
ModelFile read_model_file(const std::filesystem::path& path, const OpenOptions& options = {});

/// The model that a run came to, not calibrated; called by the name of its folder. DataError as in load_run().
ModelFile model_of_run(const std::filesystem::path& folder, const OpenOptions& options = {});

/// The same of a run in memory.
ModelFile model_of_run(TrainedRun run, std::string name);

/// A model file, called as the file where it has no name, or the folder of a run.
ModelFile open_model(const std::filesystem::path& path, const OpenOptions& options = {});

}  // namespace priornet
