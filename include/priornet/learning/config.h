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

/// Everything that defines a run: the same configuration, device and thread count give the same network.
struct TrainConfig {
  // [data]
  std::string train;                        ///< a set by name (load_set.h)
  std::string validation;                   ///< another, or none
  double noise = 0.0;                       ///< standard deviation of Gaussian noise on every input, in [-1, 1] units
  AugmentationOptions augmentation;         ///< of training images, and of out-of-distribution images
  std::optional<double> validation_share;   ///< of the rows of `train`, kept back for validation
  std::optional<double> calibration_share;  ///< of the rows of `train`, kept back for `priornet calibrate`
  std::optional<double> balance;            ///< 1: all classes weigh the same, however rare; 0: each row does
  std::optional<bool> standardise;          ///< rows of numbers: each feature to one scale (measure_scale)

  ModelOptions model;            // [model]; its input and classes are the training set's
  std::string weights;           ///< a safetensors file to begin with (load_pretrained); none if empty
  MethodOptions method;          // [method]
  std::string teacher;           ///< the folder of a run that teaches, or empty
  bool teacher_in_turn = false;  ///< each input goes to one member of the teacher, not to all
  int64_t members = 1;           ///< networks of the ensemble, each from a seed of its own
  OutsideOptions outside;        // [outside]

  // [training]
  int64_t epochs = 10;
  int64_t batch = 128;          ///< in-distribution inputs per step
  int64_t outside_batch = 128;  ///< out-of-distribution inputs per step
  OptimiserOptions optimiser = {.clip = 10.0};
  ScheduleOptions schedule;
  int64_t seed = 1;
  Precision precision = Precision::kFloat32;
  bool freeze = false;                   ///< only the last layers learn; the layers before them stay as they are
  std::optional<double> weight_average;  ///< decay per step of the running mean of the weights; the run keeps that mean
  std::optional<int64_t> restarts;       ///< from another seed, if validation shows no better than chance
  std::optional<int64_t> patience;       ///< epochs without a smaller validation NLL after which a run ends
  int64_t checkpoint_every = 1;          ///< epochs; the last has one in any case
  int64_t keep_checkpoints = 2;          ///< how many of the last to keep, beside the best
};

/// Hands over the keys of a configuration file one by one.
void visit_config(TrainConfig& config, ConfigFields& fields);

/// The configuration of a TOML file, changed by overrides ("training.epochs=3"). ConfigError as in read_toml(), and for
/// values that contradict each other.
TrainConfig read_config(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});
TrainConfig read_config(const TomlText& toml, const std::vector<std::string>& overrides = {});

/// ConfigError for values that contradict each other whatever the sets are. read_config() and train() call it.
void check_config(const TrainConfig& config);

/// The configuration as a TOML file; reading the file gives the same configuration.
std::string to_toml(const TrainConfig& config);

/// The first lines in which a configuration file and the text of to_toml() differ, for a message. Empty if they differ
/// only in comments, in the order of keys, in keys that the file leaves out and that have their default values, or in
/// what may change when a run goes on: training.epochs, patience, checkpoint_every and keep_checkpoints, and
/// data.train, whose content train() compares.
std::string first_difference(std::string_view file, std::string_view here);

}  // namespace priornet
