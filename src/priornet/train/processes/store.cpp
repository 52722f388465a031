#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/train/processes/collectives.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

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
    // One that outlives a run may hold what an earlier attempt left.
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

}  // namespace priornet
