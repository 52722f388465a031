#include <fmt/format.h>
#include <priornet/learning/processes.h>
#include <priornet/uncertainty/errors.h>

#include <charconv>
#include <cstdlib>
#include <optional>

namespace priornet {
namespace {

constexpr int kMostProcesses = 1 << 16;
constexpr int kLastPort = 65535;

// Launchers leave variables that they do not use empty.
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

// The node that srun was called on may be one where no process of the run is.
std::string master_of_slurm() {
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
    if (const auto nodes = variable(name)) return first_node(*nodes);
  return required("SLURM_LAUNCH_NODE_IPADDR", "SLURM_NTASKS");
}

// Jobs that share a node should not meet.
uint16_t port_of_slurm() {
  constexpr int kFirst = 20000;
  constexpr int kPorts = 10000;
  const auto job = variable("SLURM_JOB_ID").value_or("0");
  return static_cast<uint16_t>(kFirst + number("SLURM_JOB_ID", job, {0, 2147483647}) % kPorts);
}

}  // namespace

ProcessPlace place_from_environment() {
  const bool plain = variable("RANK") || variable("WORLD_SIZE");
  // The shell of a batch script has these as well, but is no job step of its own.
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

}  // namespace priornet
