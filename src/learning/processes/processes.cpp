#include <priornet/learning/processes.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <torch/cuda.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#if defined(PRIORNET_HAVE_COLLECTIVES)
#include "learning/processes/collectives.h"
#include "learning/processes/peer_watch.h"
#endif

namespace priornet {
namespace {

constexpr int kMostProcesses = 1 << 16;
constexpr int kLastPort = 65535;

// Launchers set variables that they do not use to the empty text.
std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

struct Bounds {
  int least;
  int most;
};

int number(const char* name, const std::string& text, const Bounds& bounds) {
  int value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < bounds.least || value > bounds.most)
    throw ConfigError(
        fmt::format("{} should be a whole number from {} to {}, found {}", name, bounds.least, bounds.most, text));
  return value;
}

std::string required(const char* name, const char* because) {
  const auto value = variable(name);
  if (!value) throw ConfigError(fmt::format("{} is set, but {} is not", because, name));
  return *value;
}

struct Names {
  const char* rank;
  const char* processes;
  const char* local_rank;
};

ProcessPlace numbered(const Names& names) {
  ProcessPlace place;
  place.processes = number(names.processes, required(names.processes, names.rank), {1, kMostProcesses});
  place.rank = number(names.rank, required(names.rank, names.processes), {0, place.processes - 1});
  if (const auto local = variable(names.local_rank))
    place.local_rank = number(names.local_rank, *local, {0, kMostProcesses - 1});
  return place;
}

// "gpu[03-05,9],login" is gpu03, gpu04, gpu05, gpu9 and login.
std::string first_node(const std::string& list) {
  std::string name;
  for (size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      name += list[i];
      continue;
    }
    const auto close = list.find(']', i);
    if (close == std::string::npos) throw ConfigError("SLURM_JOB_NODELIST holds a [ without its ]: " + list);
    const auto inside = list.substr(i + 1, close - i - 1);
    name += inside.substr(0, inside.find_first_of(",-"));
    i = close;
  }
  return name;
}

// srun may have been called on a node that runs no process of the run.
std::string master_of_slurm() {
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
    if (const auto nodes = variable(name)) return first_node(*nodes);
  return required("SLURM_LAUNCH_NODE_IPADDR", "SLURM_NTASKS");
}

// Jobs that share a node should use different ports.
uint16_t port_of_slurm() {
  constexpr int kFirst = 20000;
  constexpr int kPorts = 10000;
  const auto job = variable("SLURM_JOB_ID").value_or("0");
  return static_cast<uint16_t>(kFirst + number("SLURM_JOB_ID", job, {0, 2147483647}) % kPorts);
}

}  // namespace

ProcessPlace place_from_environment() {
  const bool plain = variable("RANK") || variable("WORLD_SIZE");
  // The shell of a batch script has these variables too, but is not a job step.
  const bool slurm = !plain && variable("SLURM_STEP_ID") && variable("SLURM_PROCID") && variable("SLURM_NTASKS");
  if (!plain && !slurm) return {};
  auto place = plain ? numbered({"RANK", "WORLD_SIZE", "LOCAL_RANK"})
                     : numbered({"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"});
  if (place.processes == 1) return place;
  if (const auto master = variable("MASTER_ADDR"))
    place.master = *master;
  else
    place.master = slurm ? master_of_slurm() : required("MASTER_ADDR", "WORLD_SIZE");
  if (const auto port = variable("MASTER_PORT"))
    place.port = static_cast<uint16_t>(number("MASTER_PORT", *port, {1, kLastPort}));
  else if (slurm)
    place.port = port_of_slurm();
  if (variable("TORCHELASTIC_USE_AGENT_STORE") == "True")
    place.attempt = variable("TORCHELASTIC_RESTART_COUNT").value_or("0");
  return place;
}

#if defined(PRIORNET_HAVE_COLLECTIVES)

namespace {

constexpr std::chrono::milliseconds kLook{500};  // how often a waiting process checks whether the others live

// Without this thread a process would wait for one that is gone for as long as NCCL does, which is for ever: the GPU
// waits inside of the exchange, and the host for the GPU.
class GpuGuard {
 public:
  GpuGuard(PeerWatch& watch, Collectives& collectives)
      : thread_([this, &watch, &collectives] { run(watch, collectives); }) {}
  ~GpuGuard() {
    {
      const std::lock_guard lock(mutex_);
      leaving_ = true;
    }
    left_.notify_all();
    thread_.join();
  }

  /// Whether the exchange was broken off: what the host then finds on the GPU means nothing.
  bool has_broken_off() const { return broken_; }

 private:
  void run(PeerWatch& watch, Collectives& collectives) {
    try {
      for (std::unique_lock lock(mutex_); !left_.wait_for(lock, kLook, [&] { return leaving_; });) watch.check();
    } catch (const ProcessGone&) {
      broken_ = true;
      try {
        break_off(collectives);
      } catch (const std::exception&) {  // then this process is ended from outside
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable left_;
  bool leaving_ = false;
  std::atomic<bool> broken_ = false;
  std::thread thread_;
};

}  // namespace

struct ProcessGroup::Connections {
  Connections(const ProcessPlace& place, const torch::Device& device, const ProcessPatience& options)
      : store(open_store(place, {place.rank == 0 && place.attempt.empty(), options.join})), watch(place, options) {
    try {
      collectives = device.is_cpu() ? make_gloo(store, place) : make_nccl(store, place);
      if (!device.is_cpu()) guard.emplace(watch, *collectives);
    } catch (const c10::Error& error) {
      watch.explain(error.what_without_backtrace());
    } catch (const Error& error) {  // this build has none
      watch.leave(error.what());
      throw;
    } catch (const std::exception& error) {
      watch.explain(error.what());
    }
  }

  // Waiting for a process that is gone could take long, so the connections are left to the end of this process.
  ~Connections() {
    const bool broken = failed || has_broken_off();
    guard.reset();
    if (broken) (void)collectives.release();
  }

  c10::intrusive_ptr<c10d::Work> start(torch::Tensor tensor);
  void finish(c10d::Work& work, bool on_cpu);
  void sum(const torch::Tensor& tensor);  ///< which the host may read afterwards
  bool has_broken_off() const { return guard && guard->has_broken_off(); }

  c10::intrusive_ptr<c10d::Store> store;
  PeerWatch watch;
  c10::intrusive_ptr<Collectives> collectives;
  std::optional<GpuGuard> guard;
  bool failed = false;
};

c10::intrusive_ptr<c10d::Work> ProcessGroup::Connections::start(torch::Tensor tensor) {
  std::vector<torch::Tensor> tensors{std::move(tensor)};
  try {
    return collectives->allreduce(tensors);
  } catch (const std::exception& error) {
    failed = true;
    watch.explain(error.what());
  }
}

// Waits for the sum; on a GPU only lets later work there wait for it.
void ProcessGroup::Connections::finish(c10d::Work& work, bool on_cpu) {
  if (!on_cpu) {
    work.wait();
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

void ProcessGroup::Connections::sum(const torch::Tensor& tensor) {
  const auto work = start(tensor);
  finish(*work, tensor.is_cpu());
  if (!guard) return;
  torch::cuda::synchronize(tensor.get_device());
  if (has_broken_off()) watch.explain("it was broken off");
}

std::unique_ptr<ProcessGroup::Pending> ProcessGroup::start_sum(torch::Tensor tensor) {
  class Sum final : public Pending {
   public:
    Sum(Connections& connections, torch::Tensor summed)
        : connections_(connections), on_cpu_(summed.is_cpu()), work_(connections.start(std::move(summed))) {}
    void wait() override { connections_.finish(*work_, on_cpu_); }

   private:
    Connections& connections_;
    bool on_cpu_;
    c10::intrusive_ptr<c10d::Work> work_;
  };
  return std::make_unique<Sum>(*connections_, std::move(tensor));
}

void ProcessGroup::average(torch::Tensor tensor) {
  connections_->sum(tensor);
  tensor.div_(place_.processes);
}

void ProcessGroup::broadcast(torch::Tensor tensor) {
  // As a sum in which the other processes have zeros: one way to wait and to fail.
  if (!is_first()) tensor.zero_();
  connections_->sum(tensor);
}

void ProcessGroup::barrier() { any(false); }

bool ProcessGroup::any(bool mine) {
  const auto count = torch::full({1}, mine ? 1 : 0, torch::TensorOptions(torch::kInt32).device(device_));
  connections_->sum(count);
  return count.item<int32_t>() > 0;
}

void ProcessGroup::agree(const std::string& name, const std::string& value, const std::string& message) {
  connections_->watch.agree(name, value, message);
}

void ProcessGroup::leave(const std::string& reason) { connections_->watch.leave(reason); }

#else

// Replaces the group if LibTorch brings neither of its libraries.

struct ProcessGroup::Connections {};

ProcessGroup::ProcessGroup(const ProcessPlace& place, const torch::Device& device, const ProcessPatience&)
    : place_(place), device_(device) {
  throw Error("this build has neither Gloo nor NCCL: several processes cannot train together");
}

ProcessGroup::~ProcessGroup() = default;
std::unique_ptr<ProcessGroup::Pending> ProcessGroup::start_sum(torch::Tensor) { return nullptr; }
void ProcessGroup::average(torch::Tensor) {}
void ProcessGroup::broadcast(torch::Tensor) {}
void ProcessGroup::barrier() {}
bool ProcessGroup::any(bool mine) { return mine; }
void ProcessGroup::agree(const std::string&, const std::string&, const std::string&) {}
void ProcessGroup::leave(const std::string&) {}

#endif

}  // namespace priornet
