#pragma once

#include <priornet/train/training_step.h>
#include <priornet/train/validation.h>

#include <optional>
#include <string>

namespace priornet {

/// An epoch that is over.
struct EpochReport {
  int64_t epoch = 0;  ///< 1, 2, ...
  double loss = 0.0;  ///< means over the epoch's steps, as the others
  double inside = 0.0;
  double outside = 0.0;
  double cross_entropy = 0.0;
  double gradient_norm = 0.0;
  double rate = 0.0;  ///< the learning rate of the last step
  double seconds = 0.0;
  double images_a_second = 0.0;
  std::optional<Validation> validation;
};

/// The losses of a report from what the steps added up; the rest is left to be filled in.
EpochReport report_of(const torch::Tensor& sums);

/// One line of metrics.jsonl.
std::string to_json(const EpochReport& report);

}  // namespace priornet
