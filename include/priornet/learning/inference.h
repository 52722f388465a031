#pragma once

#include <priornet/learning/network.h>

#include <cstdint>

namespace priornet {

/// While it lives a network is in evaluation mode, with its dropout at work or not; afterwards it is as it was.
class Evaluating {
 public:
  explicit Evaluating(Network& network, bool dropout = false);
  ~Evaluating() { network_.train(was_training_); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  Network& network_;
  bool was_training_;
};

struct InferenceOptions {
  int64_t batch = 1000;  ///< at least 1
  bool bfloat16 = false;
  double noise = 0.0;  ///< standard deviation of Gaussian noise on every input, in [-1, 1] units
  uint64_t seed = 0;   ///< of the noise
};

/// Where a network's parameters lie.
torch::Device device_of(const Network& network);

/// The rows first, first + 1, ... of a set's inputs, a batch of them at most, as networks take them: on the device,
/// float32, images in [-1, 1], with noise, which is the same however a set is cut into batches.
torch::Tensor network_inputs(const torch::Tensor& inputs, int64_t first, const torch::Device& device,
                             const InferenceOptions& options);

/// Logits [N, K], float32 on the CPU, of a set's inputs, batch by batch on the network's device. The network is set to
/// evaluate, and back. ArgumentError for batch < 1, or inputs of another shape.
torch::Tensor infer(Network& network, const torch::Tensor& inputs, const InferenceOptions& options = {});

}  // namespace priornet
