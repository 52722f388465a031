#pragma once

#include <priornet/learning/config.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/progress.h>
#include <torch/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace priornet {

/// The largest distance of a feature from its mean, in deviations. Beyond it a network learnt nothing, and a network
/// with ReLUs becomes more and more certain there.
constexpr double kFarthestDeviations = 100.0;

/// Where the tails of a feature begin to be compressed, in deviations.
constexpr double kTailsBegin = 3.0;

/// Distances in deviations, any shape: no farther out than kFarthestDeviations, and |z| beyond kTailsBegin becomes
/// kTailsBegin + ln(1 + |z| - kTailsBegin), at most 7.6. NaN stays.
torch::Tensor draw_in_tails(const torch::Tensor& distances);

/// How each feature of rows of numbers is brought to one scale: z = (value - mean) / deviation, at most
/// kFarthestDeviations from 0. With drawn_in, draw_in_tails() of that, so that a few values a thousand times larger
/// than the others do not dominate a network.
struct FeatureScale {
  torch::Tensor mean;       ///< float32 [D]; undefined where rows are taken as they are
  torch::Tensor deviation;  ///< float32 [D]
  bool drawn_in = false;

  bool defined() const { return mean.defined(); }

  /// Rows float32 [N, D] as the network takes them; NaN stays. Anything else as it is.
  torch::Tensor applied(const torch::Tensor& inputs) const;
};

/// The scale of rows [N, D], from what most of them are like: mean is the median, deviation is the distance of the
/// quartiles over 1.349, which is the standard deviation of a Gaussian. If half of a feature's values are the same, as
/// in a column of 0 and 1, both are the ordinary mean and deviation. A feature that never changes has a deviation of 1.
/// Tails are drawn in. At most a hundred thousand rows are used.
FeatureScale measure_scale(const torch::Tensor& rows);

// How a training set was prepared for a run: rows kept back, features brought to one scale. It is stored in the run's
// folder, in preparation.safetensors.

struct Dataset;

struct TrainingSplit {
  FeatureScale scale;                             ///< of rows of numbers
  std::shared_ptr<const TableEncoding> encoding;  ///< of a table: how its columns became numbers
  torch::Tensor validation_rows;           ///< int64, ascending, of the set that data.train names; undefined if none
  torch::Tensor calibration_rows;          ///< likewise
  std::vector<std::string> feature_names;  ///< of rows of numbers, if they have any
  std::string content;                     ///< training_content of the set; empty if unknown

  /// Rows float32 [N, D] as the network takes them; anything else as it is.
  torch::Tensor standardised(const torch::Tensor& inputs) const { return scale.applied(inputs); }

  bool empty() const;

  /// Whether a set of this training_content is the one that was prepared; true if that is unknown.
  bool may_be_of(const std::string& found) const { return content.empty() || content == found; }
};

/// A short text that differs if a set has other rows of numbers, other labels, or another order of rows: kept rows are
/// known by their places. It ignores the pixels of images, which depend on the decoder.
std::string training_content(const Dataset& set);

/// The file appears whole or not at all; no file if there is nothing to store.
void write_training_split(const std::filesystem::path& run, const TrainingSplit& split);

/// An empty one if the run has none. DataError that names the file if it is damaged.
TrainingSplit read_training_split(const std::filesystem::path& run);

/// The probabilities [N, K], each positive, that networks trained before give a training batch of inputs [N, ...]; on
/// the device of the inputs.
using Teacher = std::function<torch::Tensor(const torch::Tensor& inputs)>;

/// What a run learns from.
struct TrainingSets {
  Dataset train;
  std::optional<Dataset> validation;
  Teacher teacher;           ///< empty without one
  TrainingSplit split = {};  ///< what was done to the set that data.train names
};

/// The sets that a configuration names, the second brought to the size of the first, with the rows kept back and the
/// features standardised as it says; without a teacher (train() finds it). DataError if a set is missing, has no
/// labels, or has classes that the training set does not have.
TrainingSets load_training_sets(const TrainConfig& config, Progress& progress);

/// The same for sets in memory: `validation` has the classes and columns of `train`, which has labels.
TrainingSets prepare_training_sets(const TrainConfig& config, Dataset train, std::optional<Dataset> validation = {});

/// The options of the network that learns from a set.
ModelOptions model_for(const TrainConfig& config, const Dataset& train);

/// A configuration for a set that has none: a Prior Network that suits its kind of data and its size, with synthetic
/// out-of-distribution inputs, a tenth of the rows kept back for validation (none for a small table) and a tenth for
/// calibration. `name` is what the set is loaded by. DataError, which begins with it, if there are no labels, only one
/// class, or few rows.
TrainConfig config_for(const std::string& name, const Dataset& set);

}  // namespace priornet
