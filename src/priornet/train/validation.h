#pragma once

#include <priornet/data/dataset.h>
#include <priornet/models/network.h>
#include <priornet/train/method.h>

#include <string>
#include <utility>
#include <vector>

namespace priornet {

/// Logits [N, K], float32 on the CPU, of a set's inputs, batch by batch on the network's device. The network is set to
/// evaluate, and back.
struct InferenceOptions {
  int64_t batch = 1000;
  bool bfloat16 = false;
  double noise = 0.0;  ///< standard deviation of Gaussian noise on every input, in [-1, 1] units
  uint64_t seed = 0;   ///< of the noise
};
torch::Tensor infer(Network& network, const torch::Tensor& inputs, const InferenceOptions& options = {});

/// What is watched while a network trains.
struct Validation {
  double error = 0.0;              ///< share of rows
  double log_likelihood_loss = 0;  ///< nats a row
  double calibration_error = 0.0;
  /// The mean of each measure, by its column name of `priornet measure`, on the set and outside it.
  std::vector<std::pair<std::string, double>> inside;
  std::vector<std::pair<std::string, double>> outside;
};

/// `outside` may be undefined.
Validation validate(Network& network, const Dataset& set, const torch::Tensor& outside, Method method,
                    const InferenceOptions& options);

}  // namespace priornet
