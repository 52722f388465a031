#pragma once

#include <priornet/core/progress.h>
#include <priornet/data/dataset.h>
#include <priornet/train/config.h>
#include <priornet/train/preparation.h>

#include <optional>

namespace priornet {

/// What a run learns from.
struct TrainingSets {
  Dataset train;
  std::optional<Dataset> validation;
  torch::Tensor teacher;         ///< probabilities [N, K] of the training inputs, of method distil
  Preparation preparation = {};  ///< what was done to the set that data.train names
};

/// The sets that a configuration names, the second brought to the size of the first, with the rows kept back and the
/// features standardised as it says; no teacher.
/// DataError where one is not there, has no labels, or has classes that the training set does not have.
TrainingSets load_training_sets(const TrainConfig& config, Progress& progress);

/// The options of the network that learns from a set.
ModelOptions model_for(const TrainConfig& config, const Dataset& train);

}  // namespace priornet
