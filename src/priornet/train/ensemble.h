#pragma once

#include <priornet/train/trainer.h>

#include <filesystem>
#include <functional>

namespace priornet {

struct EnsembleOptions {
  TrainerOptions trainer;
  RunFolder::Start start = RunFolder::Start::kNew;
  /// Hears which member, 1, 2, ..., begins; not called for a run of one network.
  std::function<void(int64_t member)> on_member;
};

/// Where member 1, 2, ... of an ensemble lies in the folder of its run.
std::filesystem::path member_folder(const std::filesystem::path& run, int64_t member);

/// The configuration of member 1, 2, ...: that of the run with another seed.
TrainConfig member_config(const TrainConfig& config, int64_t member);

/// Trains all networks of a configuration: one in the folder itself, the members of an ensemble one after the other in
/// folders of their own, which are whole runs themselves. A run that is to be replaced is removed when the first
/// network is ready to be trained: one that cannot be leaves it as it is. Throws as train().
void train_run(const TrainConfig& config, const TrainingSets& sets, const std::filesystem::path& folder,
               const EnsembleOptions& options, Progress& progress);

}  // namespace priornet
