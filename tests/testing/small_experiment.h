#pragma once

#include <priornet/learning/load_set.h>
#include <testing/small_runs.h>

// An experiment on made-up images that takes a second.

namespace priornet {

inline TrainConfig small_plan(const std::string& method, uint64_t seed) {
  auto config = small_config(method);
  config.train = "train";
  config.validation = "validation";
  config.augmentation = {};
  config.epochs = 2;
  config.seed = static_cast<int64_t>(seed);
  return config;
}

/// Made-up sets by name. One label in the test set is wrong, so that there is something misclassified.
inline Dataset small_set(const std::string& name) {
  if (name == "absent") throw AbsentSet("paintings is not below /data", "priornet data get paintings gets it");
  if (name == "noise")
    return {
        name, torch::randint(0, 256, {60, 1, 8, 8}, make_generator(5), torch::kInt64).to(torch::kUInt8), {}, {}, {}};
  auto set = small_images(name == "train" ? 320 : 90, name == "train" ? 1 : 2);
  if (name == "test") set.labels[0] = (set.labels[0] + 1).remainder(3);
  set.name = name;
  return set;
}

}  // namespace priornet
