#pragma once

#include <priornet/uncertainty/errors.h>
#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace priornet {

/// Which of the processes of a run this one is, and where process 0 waits for the others.
struct ProcessPlace {
  int rank = 0;
  int processes = 1;
  int local_rank = 0;              ///< among those of this machine: which of its GPUs to take
  std::string master;              ///< the machine of process 0, a name or an address
  uint16_t port = 29500;           ///< on that machine
  std::string attempt;             ///< of torchrun, which listens there itself; otherwise empty, and process 0 listens
  std::vector<int> children = {};  ///< the ids of processes 1, 2, ... if this one started them (local_launch.h)
};

/// From RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, as torchrun and the operators of Kubernetes set
/// them; else from SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID and the node list of a job step, as srun sets them, where
/// MASTER_ADDR and MASTER_PORT still come first; else one process. `attempt` is TORCHELASTIC_RESTART_COUNT if
/// TORCHELASTIC_USE_AGENT_STORE is True. ConfigError that names the variable that is missing or makes no sense.
ProcessPlace place_from_environment();

/// Another process of the run has ended or cannot be reached: the message names it.
class ProcessGone : public Error {
 public:
  using Error::Error;
};

/// How long processes wait for each other.
struct ProcessPatience {
  std::chrono::milliseconds join{300'000};    ///< for all processes to begin
  std::chrono::milliseconds silence{60'000};  ///< after which a silent process counts as gone
};

/// The processes that share a training run, by LibTorch's c10d: Gloo for tensors on a CPU, NCCL for those on GPUs. All
/// call the same functions in the same order. A call that waits for another process throws ProcessGone within seconds
/// after that process has ended.
class ProcessGroup {
 public:
  /// Waits for all processes. `device` is where the tensors lie. Error if this build lacks what it needs, if the others
  /// do not arrive, or if process 0 cannot listen.
  ProcessGroup(const ProcessPlace& place, const torch::Device& device, const ProcessPatience& patience = {});

  /// On an exception, tells the others that this process leaves. Otherwise process 0 waits here for the others.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const { return place_.rank; }
  int processes() const { return place_.processes; }
  bool is_first() const { return place_.rank == 0; }

  /// A sum in progress. Do not touch its tensor before wait() returns. On a GPU wait() returns at once, and later work
  /// there waits for the sum.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void wait() = 0;
  };

  /// Replaces a dense tensor by its sum over all processes.
  std::unique_ptr<Pending> start_sum(torch::Tensor tensor);

  void average(torch::Tensor tensor);    ///< replaces it by its mean over all processes
  void broadcast(torch::Tensor tensor);  ///< replaces it by the tensor of process 0
  void barrier();                        ///< waits until all processes have called it
  bool any(bool mine);                   ///< whether it is true in at least one process

  /// Throws ConfigError with `message` unless `value` is that of process 0.
  void agree(const std::string& name, const std::string& value, const std::string& message);

  /// Tells the others why this process ends early.
  void leave(const std::string& reason);

 private:
  struct Connections;
  ProcessPlace place_;
  torch::Device device_;
  std::unique_ptr<Connections> connections_;
};

}  // namespace priornet
