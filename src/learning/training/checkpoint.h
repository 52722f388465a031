#pragma once

#include <priornet/learning/network.h>
#include <priornet/learning/optimiser.h>
#include <priornet/learning/tensor_file.h>

#include <filesystem>
#include <string>

// A moment of a run in a tensor file: weights, what the optimiser keeps, how far the run is, its configuration.

namespace priornet {

struct CheckpointFacts {
  int64_t step = 0;         ///< steps done
  std::string config;       ///< as TOML
  std::string class_names;  ///< as a JSON list
  double best = 0.0;        ///< the best validation error so far; above 1 if there is none yet
  std::string input_shape;  ///< of one input, as a JSON list; what is written is the network's
};

/// Writes it whole or not at all. `sums` are the losses of the epoch that is under way.
void write_checkpoint(const std::filesystem::path& path, const Network& network, const Optimiser& optimiser,
                      const torch::Tensor& sums, const CheckpointFacts& facts);

/// Puts weights, optimiser and sums back in place. DataError that names what differs, and nothing is changed, where the
/// file is damaged, or of another network, optimiser or configuration.
CheckpointFacts resume_checkpoint(const std::filesystem::path& path, Network& network, Optimiser& optimiser,
                                  torch::Tensor& sums, const std::string& config);

/// The facts alone.
CheckpointFacts checkpoint_facts(const TensorFile& file);

/// Parameters and buffers by the names they have in a file, sharing memory with the network.
std::vector<NamedTensor> weights_of(const Network& network);

/// The weights alone, of a network of that architecture. DataError as above.
void load_weights(const TensorFile& file, Network& network);

}  // namespace priornet
