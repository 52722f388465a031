#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace torch::nn {
class Module;
}

namespace priornet {

class Classifier;
struct Activations;

/// While this object lives, a network is in evaluation mode, with its dropout on or off; then each of its modules is in
/// its old mode again.
class Evaluating {
 public:
  explicit Evaluating(Classifier& network, bool dropout = false);
  ~Evaluating();
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> modes_;  ///< whether each was training
};

struct InferenceOptions {
  int64_t batch = 1000;  ///< at least 1
  bool bfloat16 = false;
  double noise = 0.0;  ///< standard deviation of Gaussian noise on every input, in [-1, 1] units
  uint64_t seed = 0;   ///< of the noise
  /// int64 on the CPU: use only these rows of the inputs, in this order; undefined: all rows. network_inputs() takes
  /// none.
  torch::Tensor rows = {};
};

/// Where a network's parameters lie.
torch::Device device_of(const Classifier& network);

/// The rows first, first + 1, ... of a set's inputs, at most one batch of them, as networks take them: on the device,
/// float32, images in [-1, 1], with noise. The noise does not depend on how a set is cut into batches.
torch::Tensor network_inputs(const torch::Tensor& inputs, int64_t first, const torch::Device& device,
                             const InferenceOptions& options);

/// Calls `ask` with each batch of a set's inputs as networks take them, and with the number of its first row, in their
/// order. All code that cuts a set into batches for a network calls this function. A set that lies on another device,
/// or in a file because it does not fit in memory, is copied to the device batch by batch, one batch ahead.
/// ArgumentError for batch < 1.
void for_each_batch(const torch::Tensor& inputs, const torch::Device& device, const InferenceOptions& options,
                    const std::function<void(const torch::Tensor& batch, int64_t first)>& ask);

/// A batch for a network with dropout on.
struct DropoutBatch {
  torch::Tensor fixed;  ///< the input of the first dropout (Classifier::before_dropout), [n, ...]
  size_t member;        ///< which of the networks runs, from 0
  int64_t first;        ///< the row of the inputs that the batch begins with
};

struct AskOptions {
  /// How to run a network with dropout on, S times: returns [S, n, K] for a batch. Empty: one pass without dropout.
  std::function<torch::Tensor(Classifier& network, const DropoutBatch& batch)> dropout;
  std::function<void(int64_t rows)> on_batch;  ///< is told before each batch how many rows are done
  /// Sees each batch as networks take it, with the activations of the first network, dropout off. Their logits are
  /// those of all networks together: [n, K] for one network and one pass, else [M S, n, K]. One pass gives both, unless
  /// there is dropout.
  std::function<void(const torch::Tensor& batch, const Activations& activations)> on_activations;
  bool layers = false;  ///< whether those activations have layers
};

/// Logits of at least one network, all on one device, for at least one row: [M S, N, K], member by member, S = 1
/// without dropout; float32 on that device. The networks are in evaluation mode meanwhile.
torch::Tensor logits_of_networks(const std::vector<std::shared_ptr<Classifier>>& networks, const torch::Tensor& inputs,
                                 const InferenceOptions& options, const AskOptions& ask = {});

/// A batch size that suits a device: on a CPU the output of a layer should stay in the caches; a GPU needs enough work.
inline int64_t batch_suiting(const torch::Device& device) { return device.is_cpu() ? 250 : 2000; }

/// Logits [N, K], float32 on the CPU, of a set's inputs, batch by batch on the network's device. The network is in
/// evaluation mode meanwhile. ArgumentError for batch < 1, or inputs of another shape.
torch::Tensor infer(Classifier& network, const torch::Tensor& inputs, const InferenceOptions& options = {});

}  // namespace priornet
