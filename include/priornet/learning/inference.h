#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace priornet {

class Classifier;
struct Activations;

/// While it lives a network is in evaluation mode, with its dropout at work or not; afterwards it is as it was.
class Evaluating {
 public:
  explicit Evaluating(Classifier& network, bool dropout = false);
  ~Evaluating();
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  Classifier& network_;
  bool was_training_;
};

struct InferenceOptions {
  int64_t batch = 1000;  ///< at least 1
  bool bfloat16 = false;
  double noise = 0.0;  ///< standard deviation of Gaussian noise on every input, in [-1, 1] units
  uint64_t seed = 0;   ///< of the noise
  /// int64 on the CPU: these rows of the inputs alone, in this order; undefined: all of them. network_inputs() takes
  /// none.
  torch::Tensor rows = {};
};

/// Where a network's parameters lie.
torch::Device device_of(const Classifier& network);

/// The rows first, first + 1, ... of a set's inputs, a batch of them at most, as networks take them: on the device,
/// float32, images in [-1, 1], with noise, which is the same however a set is cut into batches.
torch::Tensor network_inputs(const torch::Tensor& inputs, int64_t first, const torch::Device& device,
                             const InferenceOptions& options);

/// Calls `ask` with each batch of a set's inputs as networks take them, and with the number of its first row, in their
/// order; nobody else cuts a set into batches for a network. A set that lies elsewhere than the device, or in a file
/// because memory has no room for it, is brought there batch by batch, one ahead of what is asked. ArgumentError for
/// batch < 1.
void for_each_batch(const torch::Tensor& inputs, const torch::Device& device, const InferenceOptions& options,
                    const std::function<void(const torch::Tensor& batch, int64_t first)>& ask);

/// How networks are asked with their dropout at work: S times each.
struct DropoutBatch {
  torch::Tensor fixed;  ///< what comes to the first dropout (Classifier::before_dropout), [n, ...]
  size_t member;        ///< which of the networks is asked, from 0
  int64_t first;        ///< which row of the inputs the batch begins with
};
struct AskOptions {
  /// Gives [S, n, K] of a batch; empty: one pass without dropout.
  std::function<torch::Tensor(Classifier& network, const DropoutBatch& batch)> dropout;
  std::function<void(int64_t rows)> on_batch;  ///< hears before each batch how many rows are done
  /// Sees each batch as networks take it, with what the first network gives of it, dropout not at work: its logits are
  /// those of all networks together, [n, K] of one asked once, else [M S, n, K]. One pass serves both, unless there is
  /// dropout.
  std::function<void(const torch::Tensor& batch, const Activations& activations)> on_activations;
  bool layers = false;  ///< whether those activations have layers
};

/// Logits of networks that lie on one device, at least one, of at least one row: [M S, N, K], member by member, S = 1
/// without dropout; float32 on that device. The networks are set to evaluate, and back.
torch::Tensor logits_of_networks(const std::vector<std::shared_ptr<Classifier>>& networks, const torch::Tensor& inputs,
                                 const InferenceOptions& options, const AskOptions& ask = {});

/// A batch that suits a device: on a CPU what a layer gives should stay in the caches; a GPU wants work.
inline int64_t batch_suiting(const torch::Device& device) { return device.is_cpu() ? 250 : 2000; }

/// Logits [N, K], float32 on the CPU, of a set's inputs, batch by batch on the network's device. The network is set to
/// evaluate, and back. ArgumentError for batch < 1, or inputs of another shape.
torch::Tensor infer(Classifier& network, const torch::Tensor& inputs, const InferenceOptions& options = {});

}  // namespace priornet
