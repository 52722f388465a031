#include <priornet/learning/processes.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <optional>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "learning/processes/collectives.h"
#include "learning/processes/peer_watch.h"

namespace priornet {
namespace {

constexpr std::chrono::milliseconds kLook{500};  // how often one who waits looks whether the others live

}  // namespace

struct ProcessGroup::Connections {
  Connections(const ProcessPlace& place, const torch::Device& device, const ProcessPatience& options)
      : store(open_store(place, {place.rank == 0 && place.attempt.empty(), options.join})), watch(place, options) {
    try {
      collectives = device.is_cpu() ? make_gloo(store, place) : make_nccl(store, place);
    } catch (const c10::Error& error) {
      watch.explain(error.what_without_backtrace());
    } catch (const Error& error) {  // this build has none
      watch.leave(error.what());
      throw;
    } catch (const std::exception& error) {
      watch.explain(error.what());
    }
  }

  // What waits for a process that is gone would not end for long: then it is left to the end of this one.
  ~Connections() {
    if (failed) (void)collectives.release();
  }

  void finish(c10d::Work& work, bool on_cpu);

  c10::intrusive_ptr<c10d::Store> store;
  PeerWatch watch;
  c10::intrusive_ptr<Collectives> collectives;
  bool failed = false;
};

void ProcessGroup::Connections::finish(c10d::Work& work, bool on_cpu) {
  if (!on_cpu) {
    work.wait();  // puts it before what follows on the GPU, and returns
    return;
  }
  try {
    for (;;) {
      try {
        work.wait(kLook);
        return;
      } catch (const std::exception& error) {
        if (work.isCompleted() && work.isSuccess()) return;
        if (work.isCompleted()) watch.explain(error.what());
      }
      watch.check();
    }
  } catch (...) {
    failed = true;
    throw;
  }
}

ProcessGroup::ProcessGroup(const ProcessPlace& place, const torch::Device& device, const ProcessPatience& options)
    : place_(place), device_(device), connections_(std::make_unique<Connections>(place, device, options)) {}

ProcessGroup::~ProcessGroup() {
  if (std::uncaught_exceptions() > 0)
    connections_->watch.leave("it ended with an error");
  else
    connections_->watch.part();
}

std::unique_ptr<ProcessGroup::Pending> ProcessGroup::start_sum(torch::Tensor tensor) {
  class Sum final : public Pending {
   public:
    Sum(Connections& connections, torch::Tensor summed) : connections_(connections), on_cpu_(summed.is_cpu()) {
      std::vector<torch::Tensor> tensors{std::move(summed)};
      try {
        work_ = connections.collectives->allreduce(tensors);
      } catch (const std::exception& error) {
        connections.failed = true;
        connections.watch.explain(error.what());
      }
    }
    void wait() override { connections_.finish(*work_, on_cpu_); }

   private:
    Connections& connections_;
    bool on_cpu_;
    c10::intrusive_ptr<c10d::Work> work_;
  };
  return std::make_unique<Sum>(*connections_, std::move(tensor));
}

void ProcessGroup::average(torch::Tensor tensor) {
  start_sum(tensor)->wait();
  tensor.div_(place_.processes);
}

void ProcessGroup::broadcast(torch::Tensor tensor) {
  // As a sum, in which the others are nothing: one way to wait and to fail.
  if (!is_first()) tensor.zero_();
  start_sum(tensor)->wait();
}

void ProcessGroup::barrier() { any(false); }

bool ProcessGroup::any(bool mine) {
  const auto count = torch::full({1}, mine ? 1 : 0, torch::TensorOptions(torch::kInt32).device(device_));
  start_sum(count)->wait();
  return count.item<int32_t>() > 0;
}

void ProcessGroup::agree(const std::string& name, const std::string& value, const std::string& message) {
  connections_->watch.agree(name, value, message);
}

void ProcessGroup::leave(const std::string& reason) { connections_->watch.leave(reason); }

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
