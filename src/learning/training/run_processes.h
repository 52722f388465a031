#pragma once

#include <priornet/learning/classifier.h>
#include <priornet/learning/optimiser.h>
#include <priornet/learning/processes.h>
#include <priornet/learning/run_folder.h>

#include <functional>
#include <memory>
#include <string>

#include "learning/training/training_batches.h"

namespace priornet {

/// Averages the gradients of a network over the processes while they arrive: the flat gradient is cut into buckets,
/// from its end, where backward() begins, and each bucket is summed as soon as all of its parameters have their
/// gradients.
class GradientExchange {
 public:
  static constexpr int64_t kBucketBytes = 25 << 20;

  /// Both arguments must outlive this object. Every backward() of the parameters must be followed by a wait().
  GradientExchange(FlatParameters& parameters, ProcessGroup& processes, int64_t bucket_bytes = kBucketBytes);
  ~GradientExchange();

  /// Waits until the gradients are those of all processes. Parameters without a gradient in this step count as 0.
  void wait();

  int64_t buckets() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The extra work of a run that several processes share. For one process, which needs no group, it does nothing.
class RunProcesses {
 public:
  /// `group` may be null.
  explicit RunProcesses(ProcessGroup* group) : group_(group) {}

  bool is_first() const { return group_ == nullptr || group_->is_first(); }
  BatchShare share() const;

  /// The name of a random stream that each process has for itself.
  std::string own(const std::string& stream) const;

  /// A function that averages the gradients after each backward(), from now on; empty if there is nothing to average.
  std::function<void()> exchange_gradients(FlatParameters& parameters);

  /// A function that copies a tensor of process 0 to all; empty if there is only one process.
  std::function<void(torch::Tensor)> broadcast() const;

  void average(const torch::Tensor& tensor) const;
  void barrier() const;
  bool any(bool mine) const;

  /// Copies the weights of process 0 to all. ConfigError unless all train the same run, from the same step.
  struct Facts {
    const std::string& config;
    const std::string& classes;
    int64_t inputs;  ///< of the training set
    int64_t step;
    std::string folder;
  };
  void begin(const Facts& facts, const FlatParameters& parameters) const;

  /// Copies process 0's statistics of batch norm, which are the run's, to all. Returns in no process before process 0.
  void finish(const Classifier& network) const;

 private:
  ProcessGroup* group_;
  std::unique_ptr<GradientExchange> exchange_;
};

/// The folder of a run of several processes, on a disk that all of them see: process 0 begins it, the others follow.
/// Without `processes` the same as RunFolder. DataError, in process 0, as in RunFolder.
RunFolder open_run_folder(const std::filesystem::path& path, RunFolder::Start start, ProcessGroup* processes);

}  // namespace priornet
