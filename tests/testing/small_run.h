#pragma once

#include <priornet/runs/trained_run.h>
#include <priornet/train/trainer.h>
#include <testing/small_images.h>
#include <testing/temporary_folder.h>

#include <map>
#include <string>

namespace priornet {

/// A tiny network for small_images, with dropout.
inline TrainConfig small_run_config(Method method = Method::kDpn) {
  TrainConfig config;
  config.train = "./small.npz";
  config.model.name = "vgg6";
  config.model.blocks = {{4}, {8}};
  config.model.dense = {16};
  config.model.keep_dense = 0.8;
  config.method.method = method;
  config.method.alpha0 = 100;
  config.outside.source = kUniformNoise;
  config.epochs = 3;
  config.batch = 32;
  config.outside_batch = 32;
  config.schedule.rate = 5e-3;
  config.optimiser.clip = 10;
  return config;
}

/// Trains it for a few steps and leaves it in the folder.
inline void train_small_run(const std::filesystem::path& folder, const TrainConfig& config = small_run_config()) {
  NoProgress progress;
  train(config, {small_images(320, 1), small_images(90, 2), {}}, RunFolder(folder, RunFolder::Start::kForce), {},
        progress);
}

/// One that lasts as long as the test program: training takes longer than most tests.
inline const std::filesystem::path& small_run(Method method = Method::kDpn) {
  static const TemporaryFolder folder;
  static std::map<Method, std::filesystem::path> trained;
  auto& path = trained[method];
  if (path.empty()) {
    path = folder / std::to_string(static_cast<int>(method));
    train_small_run(path, small_run_config(method));
  }
  return path;
}

inline TrainedRun load_small_run(Method method = Method::kDpn) { return load_run(small_run(method), torch::kCPU); }

}  // namespace priornet
