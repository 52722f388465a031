#pragma once

#include <priornet/learning/optimiser.h>
#include <priornet/learning/processes.h>

#include <memory>

namespace priornet {

/// Averages the gradients of a network over the processes while they come: the flat gradient is cut into buckets, from
/// its end, where backward() begins, and each is summed as soon as all of its parameters have their gradients.
class GradientExchange {
 public:
  static constexpr int64_t kBucketBytes = 25 << 20;

  /// Both outlive it. Every backward() of the parameters must be followed by a wait().
  GradientExchange(FlatParameters& parameters, ProcessGroup& processes, int64_t bucket_bytes = kBucketBytes);
  ~GradientExchange();

  /// Until the gradients are those of all processes. Parameters that had none in this step count as 0.
  void wait();

  int64_t buckets() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace priornet
