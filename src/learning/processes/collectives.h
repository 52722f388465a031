#pragma once

#include <priornet/learning/processes.h>
#include <torch/version.h>

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>
#if TORCH_VERSION_MAJOR < 2
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#else
#include <torch/csrc/distributed/c10d/Backend.hpp>
#endif

// What connects processes and sums their tensors.

namespace priornet {

#if TORCH_VERSION_MAJOR < 2
using Collectives = c10d::ProcessGroup;
#else
using Collectives = c10d::Backend;
#endif

/// A few values that all processes see. The process that listens holds them; the others wait for it. Error that says
/// where.
struct StoreOptions {
  bool listen = false;
  std::chrono::milliseconds timeout{};
};
c10::intrusive_ptr<c10d::Store> open_store(const ProcessPlace& place, const StoreOptions& options);

/// For tensors on a CPU. Blocks until all processes are connected. Error if this build has no Gloo.
c10::intrusive_ptr<Collectives> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place);

/// For tensors on the current GPU. Error if this build has no NCCL.
c10::intrusive_ptr<Collectives> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place);

/// Ends what is under way on a GPU, which otherwise waits there for a process that is gone. Nothing can be summed
/// afterwards.
void break_off(Collectives& collectives);

}  // namespace priornet
