#pragma once

#include <cstdint>
#include <string>

namespace priornet {

/// Which of the processes of a run this one is, and where process 0 waits for the others.
struct ProcessPlace {
  int rank = 0;
  int processes = 1;
  int local_rank = 0;     ///< among those of this machine: which of its GPUs to take
  std::string master;     ///< the machine of process 0, a name or an address
  uint16_t port = 29500;  ///< on that machine
  std::string attempt;    ///< of torchrun, which listens there itself; else empty: process 0 does
};

/// From RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, as torchrun and the operators of Kubernetes set
/// them; else from SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID and the node list of a job step, as srun sets them, where
/// MASTER_ADDR and MASTER_PORT still have the last word; else one process. `attempt` is TORCHELASTIC_RESTART_COUNT
/// where TORCHELASTIC_USE_AGENT_STORE is True. ConfigError that names the variable that is missing or makes no sense.
ProcessPlace place_from_environment();

}  // namespace priornet
