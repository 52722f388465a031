#pragma once

#include <priornet/data/dataset.h>
#include <priornet/train/inference.h>
#include <priornet/train/method.h>

#include <string>
#include <utility>
#include <vector>

namespace priornet {

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
