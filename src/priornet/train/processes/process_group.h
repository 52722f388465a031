#pragma once

#include <priornet/train/processes/peer_watch.h>
#include <torch/types.h>

#include <memory>
#include <string>

namespace priornet {

/// The processes that share a training run, by LibTorch's c10d: Gloo for tensors on a CPU, NCCL for those on GPUs.
/// All call the same functions in the same order. Whatever waits for another process throws ProcessGone when that has
/// ended, within seconds.
class ProcessGroup {
 public:
  /// Waits for all processes. `device` is where the tensors lie. Error where this build lacks what it needs, where the
  /// others do not come, or where process 0 cannot listen.
  ProcessGroup(const ProcessPlace& place, const torch::Device& device, const PeerWatch::Options& options = {});

  /// Tells the others if it goes because of an exception. Otherwise process 0 waits for the others to come here.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return place_.rank; }
  int processes() const { return place_.processes; }
  bool is_first() const { return place_.rank == 0; }

  /// A sum that is under way. Its tensor is left alone until it was waited for.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void wait() = 0;
  };

  /// Replaces a dense tensor by its sum over all processes.
  std::unique_ptr<Pending> start_sum(torch::Tensor tensor);

  void average(torch::Tensor tensor);    ///< replaces it by its mean over all processes
  void broadcast(torch::Tensor tensor);  ///< replaces it by that of process 0
  void barrier();                        ///< until all have come here
  bool any(bool mine);                   ///< whether it is true in at least one

  /// Throws ConfigError with `message` unless `value` is that of process 0.
  void agree(const std::string& name, const std::string& value, const std::string& message);

  /// Says to the others why this process ends before its time.
  void leave(const std::string& reason);

 private:
  struct Connections;
  ProcessPlace place_;
  torch::Device device_;
  std::unique_ptr<Connections> connections_;
};

}  // namespace priornet
