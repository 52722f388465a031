#include <priornet/learning/processes.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <optional>

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

  // Waiting for a process that is gone could take long, so the connections are left to the end of this process.
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
    work.wait();  // puts it before later work on the GPU, and returns
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
  // As a sum in which the other processes have zeros: one way to wait and to fail.
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
