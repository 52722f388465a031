#pragma once

#include <priornet/learning/processes.h>

#include <cstdint>
#include <optional>

namespace priornet {

struct LocalLaunch {
  int processes = 2;  ///< at least 1
  int threads = 1;    ///< of all together
};

/// A free port of this machine that nobody is given while it is held, but that whoever knows its number can listen at:
/// the socket is bound, does not listen, and allows its address to be used again, as those of c10d do.
class HeldPort {
 public:
  HeldPort();  ///< Error if none is free
  ~HeldPort();
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;
  uint16_t number() const { return number_; }

 private:
  int socket_;
  uint16_t number_ = 0;
};

/// A run of several processes on this machine. This process is process 0 and starts the others with the same command
/// line, with RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT and its share of the threads. In the others it
/// starts none. For machines without torchrun, which needs a Python with PyTorch. Two things that torchrun does not do:
/// when torchrun is killed, its processes go on training (LocalLaunch.EndsTheProcessesWithItself), and it blames
/// whichever failed process it sees first (LocalLaunch.NamesTheOneThatWasKilled; docs/processes.md says what was
/// tried).
class LocalProcesses {
 public:
  /// ArgumentError for fewer than 1 process; ConfigError if the environment already makes this process one of several;
  /// Error if no process can be started. The others end with the thread that makes this object, so make it on one that
  /// lives as long.
  explicit LocalProcesses(const LocalLaunch& launch);

  /// Gives the others some seconds to end by themselves, then ends them. They never outlive this process, however it
  /// ends.
  ~LocalProcesses();
  LocalProcesses(const LocalProcesses&) = delete;
  LocalProcesses& operator=(const LocalProcesses&) = delete;

  /// The place of this process.
  const ProcessPlace& place() const { return place_; }

 private:
  void end_children() const;

  ProcessPlace place_;
  std::optional<HeldPort> port_;  ///< of process 0, whose other processes look for it there
};

}  // namespace priornet
