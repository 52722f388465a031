#pragma once

#include <priornet/learning/config.h>
#include <priornet/learning/dataset.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The networks that an experiment plans, and where they lie: which run a folder holds, whether it is finished, what is
// left to train.

namespace priornet {

struct PlannedModel {
  std::string name;    ///< as the paper's tables name it: "DNN", "MCDP", "DPN"
  std::string run;     ///< its folder below runs/; models may share one, or be a member of another
  TrainConfig config;  ///< an ensemble has members; its noise is on the inputs of training and evaluation alike
  int64_t dropout_samples = 0;  ///< passes with dropout on; 0: one without it
  /// For a student: the model that it learns from, which is trained before it. Its config then names the teacher's run
  /// below runs/; the run on disk names the folder.
  std::shared_ptr<const PlannedModel> teacher = {};
};

/// The models that a list names, split by commas; a name may hold commas itself. ConfigError, which lists the known
/// names, for any other.
std::vector<std::string> chosen_models(const std::string& list, const std::vector<std::string>& known);

/// The configuration of a network as its folder holds it. For a student, `teacher` is the folder of the networks that
/// it learns from; for any other network it is not used. A run that was begun with the same teacher under another path,
/// for example before both were moved, keeps that path.
TrainConfig config_on_disk(const PlannedModel& plan, const std::filesystem::path& folder,
                           const std::filesystem::path& teacher);

/// Throws DataError if the folder holds a run of another configuration. A teacher counts as the same wherever the
/// folder of its experiment lies: config.teacher is its run below runs/, and the path on disk should end with that.
void refuse_other_run(const std::filesystem::path& folder, const TrainConfig& config);

/// Whether the folder holds a run of this very configuration that was trained to its end, on a set of `rows` rows.
bool is_finished_run(const std::filesystem::path& folder, const TrainConfig& config, int64_t rows);

/// The seconds that the epochs of a run took, by its metrics.
double training_seconds(const std::filesystem::path& folder);

/// How often a run began again from another seed (training.restarts), by its metrics.
int64_t restarts_of(const std::filesystem::path& folder);

/// One network of a model: the model itself, or a member of an ensemble.
struct PlannedNetwork {
  PlannedModel plan;
  std::filesystem::path folder;
};

/// Where the networks of an experiment lie.
struct NetworkFolders {
  std::filesystem::path runs;  ///< its own
  /// Folders like `runs` of other experiments: a finished run of the same configuration is taken from there.
  std::vector<std::filesystem::path> other_runs;
  std::function<int64_t(const std::string& set)> rows;  ///< of a set that is trained on

  /// Where the finished model lies, with all members of an ensemble; nothing if it is not finished.
  std::optional<std::filesystem::path> finished(const PlannedModel& plan) const;

  /// Its networks in its own folder, finished or not.
  std::vector<PlannedNetwork> networks(const PlannedModel& plan) const;
};

/// A network that is still to be trained.
struct NetworkToTrain {
  std::filesystem::path folder;  ///< of its run
  TrainConfig config;            ///< as `priornet train` takes it
  int64_t stage = 1;             ///< those of a later stage learn from networks of earlier ones
};

/// What is left to train for these models, each network once, teachers before students.
std::vector<NetworkToTrain> networks_to_train(const std::vector<PlannedModel>& models, const NetworkFolders& folders);

/// Writes the configuration of each network to OUT/plan/RUN.toml, and that of each ensemble to its folder, so that
/// members that were trained one by one can be a teacher. Returns the former paths, in their order.
std::vector<std::filesystem::path> write_plan(const std::filesystem::path& out,
                                              const std::vector<NetworkToTrain>& networks,
                                              const std::vector<PlannedModel>& models, const NetworkFolders& folders);

}  // namespace priornet
