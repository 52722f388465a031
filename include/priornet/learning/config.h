#pragma once

#include <priornet/learning/augmentation.h>
#include <priornet/learning/method.h>
#include <priornet/learning/networks.h>
#include <priornet/learning/optimiser.h>
#include <priornet/learning/outliers.h>
#include <priornet/learning/settings.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

enum class Precision {
  kFloat32,
  kBFloat16  ///< matrix products in bfloat16, on a GPU; parameters, losses and updates stay float32
};

/// All that makes a run: the same configuration, device and thread count give the same network.
struct TrainConfig {
  // [data]
  std::string train;                        ///< a set by name (load_set.h)
  std::string validation;                   ///< another, or none
  double noise = 0.0;                       ///< standard deviation of Gaussian noise on every input, in [-1, 1] units
  AugmentationOptions augmentation;         ///< of training images, also of those outside
  std::optional<double> validation_share;   ///< of the rows of `train`, kept back to be watched
  std::optional<double> calibration_share;  ///< of the rows of `train`, kept back for `priornet calibrate`
  std::optional<double> balance;            ///< 1: all classes weigh the same, however rare; 0: each row does
  std::optional<bool> standardise;          ///< rows of numbers: each feature to one scale (measure_scale)

  ModelOptions model;            // [model]; its input and classes are the training set's
  std::string weights;           ///< a safetensors file to begin with (load_pretrained); none if empty
  MethodOptions method;          // [method]
  std::string teacher;           ///< the folder of a run that teaches, or empty
  bool teacher_in_turn = false;  ///< each input is asked of one member of the teacher, not of all
  int64_t members = 1;           ///< networks of the ensemble, each from a seed of its own
  OutsideOptions outside;        // [outside]

  // [training]
  int64_t epochs = 10;
  int64_t batch = 128;          ///< in-distribution inputs per step
  int64_t outside_batch = 128;  ///< out-of-distribution inputs per step
  OptimiserOptions optimiser;
  ScheduleOptions schedule;
  int64_t seed = 1;
  Precision precision = Precision::kFloat32;
  bool freeze = false;                   ///< the last layers alone learn: what comes before them stays as it is
  std::optional<double> weight_average;  ///< decay per step of the mean of the weights, which is what is kept
  std::optional<int64_t> restarts;       ///< from another seed, where validation shows no better than chance
  std::optional<int64_t> patience;       ///< epochs without a smaller validation NLL after which a run ends
  int64_t checkpoint_every = 1;          ///< epochs; the last has one in any case
  int64_t keep_checkpoints = 2;          ///< the last so many, and the best
};

/// Goes through the keys of a configuration file.
void visit_config(TrainConfig& config, ConfigFields& fields);

/// The configuration of a TOML file, changed by overrides ("training.epochs=3"). ConfigError as read_toml has it, and
/// for what does not go together.
TrainConfig read_config(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});
TrainConfig read_config(const TomlText& toml, const std::vector<std::string>& overrides = {});

/// As a file that reads back as the same.
std::string to_toml(const TrainConfig& config);

/// The first lines in which a configuration file and what to_toml() gives differ, for a message; empty where they
/// differ in comments, the order of keys, keys that the file does not have and that are at the values they have by
/// default, or in what a run may be told again when it goes on: training.epochs, patience, checkpoint_every and
/// keep_checkpoints, and data.train, of which train() compares the content.
std::string first_difference(std::string_view file, std::string_view here);

}  // namespace priornet
