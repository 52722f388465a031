#pragma once

#include <priornet/learning/trained_run.h>
#include <testing/small_runs.h>

#include <map>
#include <string>

namespace priornet {

/// A tiny network for small_images, with dropout.
inline TrainConfig small_run_config(const std::string& method = "dpn") {
  auto config = small_config(method);
  config.train = "./small.npz";
  config.augmentation = {};
  return config;
}

/// Trains it for a few steps and leaves it in the folder.
inline void train_small_run(const std::filesystem::path& folder, const TrainConfig& config = small_run_config()) {
  NoProgress progress;
  train(config, small_sets(), RunFolder(folder, RunFolder::Start::kForce), {}, progress);
}

/// One trained run for the whole test program: training takes longer than most tests.
inline const std::filesystem::path& small_run(const std::string& method = "dpn") {
  static const TemporaryFolder folder;
  static std::map<std::string, std::filesystem::path> trained;
  auto& path = trained[method];
  if (path.empty()) {
    path = folder / method;
    train_small_run(path, small_run_config(method));
  }
  return path;
}

inline TrainedRun load_small_run(const std::string& method = "dpn") { return load_run(small_run(method), torch::kCPU); }

}  // namespace priornet
