#pragma once

#include <optional>

namespace priornet {

struct LocalLaunch {
  int processes = 2;
  int threads = 1;  ///< of all together
};

/// Starts several processes of this program on this machine, each with the same arguments, with RANK, WORLD_SIZE,
/// LOCAL_RANK, MASTER_ADDR, MASTER_PORT and its share of the threads. They end with this one; when one fails, the
/// others get some seconds to say so and are ended. Returns, when all have ended, 0 or the exit status of the first
/// that failed (128 + signal where all that failed were killed). Returns nothing in the processes that it made: those
/// go on with the work. ConfigError if the environment already makes this process one of several, Error if none
/// can be made.
std::optional<int> launch_local_processes(const LocalLaunch& launch);

}  // namespace priornet
