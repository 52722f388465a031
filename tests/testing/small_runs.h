#pragma once

#include <priornet/learning/training.h>
#include <testing/small_images.h>
#include <testing/temporary_folder.h>

#include <nlohmann/json.hpp>
#include <sstream>

// Runs that take a fraction of a second.

namespace priornet {

inline TrainConfig small_config(const std::string& method = "dpn") {
  TrainConfig config;
  config.train = "small";
  config.model.name = "vgg6";
  config.model.blocks = {{4}, {8}};
  config.model.dense = {16};
  config.model.keep_dense = 0.8;
  config.method.name = method;
  config.method.settings["alpha0"] = 100;
  config.outside.source = kUniformNoise;
  config.augmentation.shift = 1;
  config.epochs = 3;
  config.batch = 32;
  config.outside_batch = 32;
  config.schedule.rate = 5e-3;
  return config;
}

/// A configuration whose loss is not finite after one step.
inline TrainConfig diverging_config() {
  auto config = small_config("dnn");
  config.optimiser.name = "sgd";
  config.optimiser.clip = 0;
  config.schedule.rate = 1e30;
  return config;
}

inline TrainingSets small_sets() { return {small_images(320, 1), small_images(90, 2), {}}; }

/// If the method needs a teacher, the sets have one that recognises the bars.
inline TrainingSets small_sets(const std::string& method) {
  auto sets = small_sets();
  if (method_info(method).needs_teacher)
    sets.teacher = [](const torch::Tensor& inputs) {
      const auto brightness =
          inputs.mean({1, 2}).slice(1, 0, 8);  // brightness of each column; bars begin at columns 0, 3 and 6
      const auto bars = brightness.slice(1, 0, 7, 3) + brightness.slice(1, 1, 8, 3);
      return torch::full({inputs.size(0), 3}, 0.05, inputs.device()).scatter(1, bars.argmax(1, true), 0.9);
    };
  return sets;
}

/// The metrics of each epoch, without the times.
inline std::vector<nlohmann::json> metrics_of(const RunFolder& folder) {
  std::istringstream lines(bytes_of(folder.metrics()));
  std::vector<nlohmann::json> result;
  for (std::string line; std::getline(lines, line);) {
    result.push_back(nlohmann::json::parse(line));
    result.back().erase("seconds");
    result.back().erase("images_per_second");
  }
  return result;
}

inline std::shared_ptr<Classifier> trained(const TrainConfig& config, const RunFolder& folder,
                                           const TrainerOptions& options = {}) {
  NoProgress progress;
  return train(config, small_sets(config.method.name), folder, options, progress);
}

}  // namespace priornet
