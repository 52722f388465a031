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

// The state of a run in a tensor file: weights, the optimiser's tensors, how far the run is, its configuration.

namespace priornet {

struct CheckpointFacts {
  int64_t step = 0;         ///< steps done
  std::string config;       ///< as TOML
  std::string class_names;  ///< as a JSON list
  double best = 0.0;        ///< the smallest validation error so far, or NLL with training.patience
  std::string input_shape;  ///< of one input, as a JSON list; the writer takes it from the network
  int64_t restart = 0;      ///< how often the run began again from another seed
  int64_t since_best = 0;   ///< epochs since `best`
};

/// The parts of a run that a checkpoint holds. If the weights are averaged, the network in the file is the average.
struct CheckpointedState {
  Classifier& network;
  Optimiser& optimiser;
  torch::Tensor& sums;  ///< the losses of the current epoch
  WeightAverage* average = nullptr;
};

/// The file appears whole or not at all.
void write_checkpoint(const std::filesystem::path& path, const CheckpointedState& state, const CheckpointFacts& facts);

/// Puts the state back in place. DataError, which names the difference, and nothing is changed, if the file is damaged,
/// or is of another network, optimiser or configuration.
CheckpointFacts resume_checkpoint(const std::filesystem::path& path, const CheckpointedState& state,
                                  const std::string& config);

struct WholeCheckpoint {
  std::optional<int64_t> step;  ///< of the newest readable one; none if the folder holds no checkpoint
  /// Newer ones that could not be read, with what is wrong with each.
  std::vector<std::pair<int64_t, std::string>> damaged;
};

/// Looks for it, newest first. DataError, about the newest, if there are checkpoints but all are damaged.
WholeCheckpoint newest_whole_checkpoint(const RunFolder& folder);

/// The facts alone.
CheckpointFacts checkpoint_facts(const TensorFile& file);

/// Parameters and buffers by the names they have in a file, sharing memory with the network.
std::vector<NamedTensor> weights_of(const Classifier& network);

/// The weights alone, for a network of that architecture. DataError as above.
void load_weights(const TensorFile& file, Classifier& network);

}  // namespace priornet
