#include "learning/processes/collectives.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#if defined(PRIORNET_HAVE_GLOO)
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#if defined(PRIORNET_HAVE_NCCL)
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace priornet {

c10::intrusive_ptr<c10d::Store> open_store(const ProcessPlace& place, const StoreOptions& options) {
  c10d::TCPStoreOptions tcp;
  tcp.port = place.port;
  tcp.isServer = options.listen;
  tcp.waitWorkers = false;
  tcp.timeout = options.timeout;
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(place.master, tcp);
    if (place.attempt.empty()) return store;
    // A store that outlives a run may still hold what an earlier attempt left.
    return c10::make_intrusive<c10d::PrefixStore>("priornet " + place.attempt, store);
  } catch (const std::exception&) {
    if (options.listen)
      throw Error(fmt::format("process {} of {} cannot listen at {}:{}: is that this machine, and the port free?",
                              place.rank, place.processes, place.master, place.port));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.timeout).count();
    throw Error(fmt::format("process {} of {} found no process 0 at {}:{} within {} s", place.rank, place.processes,
                            place.master, place.port, seconds));
  }
}

namespace {

// Waiting long is not a fault: process 0 may be validating. PeerWatch checks whether the others live.
[[maybe_unused]] constexpr std::chrono::minutes kPatience{30};

}  // namespace

#if defined(PRIORNET_HAVE_GLOO)
c10::intrusive_ptr<Collectives> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place) {
  using Gloo = c10d::ProcessGroupGloo;
  auto options = Gloo::Options::create(kPatience);
  const bool local = place.master == "localhost" || place.master.starts_with("127.");
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr && *interface != '\0')
    options->devices.push_back(Gloo::createDeviceForInterface(interface));
  else
    options->devices.push_back(local ? Gloo::createDeviceForHostname("127.0.0.1") : Gloo::createDefaultDevice());
  return c10::make_intrusive<Gloo>(store, place.rank, place.processes, options);
}
#else
c10::intrusive_ptr<Collectives> make_gloo(const c10::intrusive_ptr<c10d::Store>&, const ProcessPlace&) {
  throw Error("this build has no Gloo: several processes cannot train on a CPU");
}
#endif

#if defined(PRIORNET_HAVE_NCCL)
namespace {

class Nccl final : public c10d::ProcessGroupNCCL {
 public:
  using ProcessGroupNCCL::ProcessGroupNCCL;
  ~Nccl() override { shutdown(); }  // otherwise it warns
};

}  // namespace

c10::intrusive_ptr<Collectives> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place) {
  // Otherwise a thread of c10d aborts this process when another is gone, without saying which.
  ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", /*overwrite=*/0);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = kPatience;
  return c10::make_intrusive<Nccl>(store, place.rank, place.processes, options);
}

void break_off(Collectives& collectives) {
  if (auto* const nccl = dynamic_cast<Nccl*>(&collectives)) nccl->abort();
}
#else
void break_off(Collectives&) {}
c10::intrusive_ptr<Collectives> make_nccl(const c10::intrusive_ptr<c10d::Store>&, const ProcessPlace&) {
  throw Error("this build has no NCCL: several processes cannot train on GPUs");
}
#endif

}  // namespace priornet
