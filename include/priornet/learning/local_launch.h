#pragma once

#include <priornet/learning/processes.h>

namespace priornet {

struct LocalLaunch {
  int processes = 2;
  int threads = 1;  ///< of all together
};

/// A run of several processes on this machine: this one is process 0 and makes the others, each called as this one was,
/// with RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT and its share of the threads. In those it makes none.
/// For machines without torchrun, which needs a Python with PyTorch. What torchrun does not give: where it is killed
/// its processes train on (LocalLaunch.EndsTheProcessesWithItself), and it names as cause whichever failed process it
/// sees first (LocalLaunch.NamesTheOneThatWasKilled; docs/processes.md says what was tried).
class LocalProcesses {
 public:
  /// ConfigError where the environment already makes this process one of several, Error where none can be made.
  explicit LocalProcesses(const LocalLaunch& launch);

  /// Gives the others some seconds to end by themselves, then ends them. They do not outlive this process, however it
  /// ends.
  ~LocalProcesses();
  LocalProcesses(const LocalProcesses&) = delete;
  LocalProcesses& operator=(const LocalProcesses&) = delete;

  /// Of this process.
  const ProcessPlace& place() const { return place_; }

 private:
  ProcessPlace place_;
};

}  // namespace priornet
