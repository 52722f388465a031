#pragma once

#include <priornet/learning/classifier.h>
#include <priornet/learning/optimiser.h>
#include <priornet/learning/run_folder.h>
#include <priornet/learning/tensor_file.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "learning/training/weight_average.h"

// A moment of a run in a tensor file: weights, what the optimiser keeps, how far the run is, its configuration.

namespace priornet {

struct CheckpointFacts {
  int64_t step = 0;         ///< steps done
  std::string config;       ///< as TOML
  std::string class_names;  ///< as a JSON list
  double best = 0.0;        ///< the smallest validation error so far, or NLL with training.patience
  std::string input_shape;  ///< of one input, as a JSON list; what is written is the network's
  int64_t restart = 0;      ///< how often the run began again from another seed
  int64_t since_best = 0;   ///< epochs since `best`
};

/// What a checkpoint holds of a run. Where the weights are averaged, the network in the file is the average.
struct CheckpointedState {
  Classifier& network;
  Optimiser& optimiser;
  torch::Tensor& sums;  ///< the losses of the epoch that is under way
  WeightAverage* average = nullptr;
};

/// Writes it whole or not at all.
void write_checkpoint(const std::filesystem::path& path, const CheckpointedState& state, const CheckpointFacts& facts);

/// Puts the state back in place. DataError that names what differs, and nothing is changed, if the file is damaged,
/// or of another network, optimiser or configuration.
CheckpointFacts resume_checkpoint(const std::filesystem::path& path, const CheckpointedState& state,
                                  const std::string& config);

struct WholeCheckpoint {
  std::optional<int64_t> step;  ///< of the newest that can be read; none where the folder holds no checkpoint
  /// Newer ones, with what is wrong with each.
  std::vector<std::pair<int64_t, std::string>> damaged;
};

/// Looks for it, newest first. DataError, of the newest, if there are checkpoints and none of them is whole.
WholeCheckpoint newest_whole_checkpoint(const RunFolder& folder);

/// The facts alone.
CheckpointFacts checkpoint_facts(const TensorFile& file);

/// Parameters and buffers by the names they have in a file, sharing memory with the network.
std::vector<NamedTensor> weights_of(const Classifier& network);

/// The weights alone, of a network of that architecture. DataError as above.
void load_weights(const TensorFile& file, Classifier& network);

}  // namespace priornet
