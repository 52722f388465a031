#include <priornet/learning/local_launch.h>

#include <ATen/Parallel.h>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <priornet/learning/processes.h>
#include <priornet/uncertainty/errors.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace priornet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kMark = "PRIORNET_LOCAL_PROCESS";
constexpr std::chrono::seconds kGrace{8};  // for the others to find out and to say who is gone

[[noreturn]] void fail(const char* what) {
  throw Error(fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

// Another program may take it before process 0 does; then that says so.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) fail("cannot make a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* general = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(socket, general, size) == 0 && ::getsockname(socket, general, &size) == 0;
  ::close(socket);
  if (!bound) fail("no port of this machine is free");
  return ntohs(address.sin_port);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> own_arguments() {
  std::ifstream line("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(line, argument, '\0');) arguments.push_back(argument);
  if (arguments.empty()) throw Error("/proc/self/cmdline: does not say how this program was started");
  return arguments;
}

std::vector<std::string> environment_of(int rank, const LocalLaunch& launch, int port) {
  const std::vector<std::pair<std::string, std::string>> own = {
      {"RANK", std::to_string(rank)},
      {"WORLD_SIZE", std::to_string(launch.processes)},
      {"LOCAL_RANK", std::to_string(rank)},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", std::to_string(port)},
      {"OMP_NUM_THREADS", std::to_string(std::max(1, launch.threads / launch.processes))},
      {kMark, "1"}};
  std::vector<std::string> result;
  for (const auto& [name, value] : own) result.push_back(name + "=" + value);
  for (char** item = environ; *item != nullptr; ++item) {
    const std::string_view text = *item;
    const auto name = text.substr(0, text.find('='));
    if (std::none_of(own.begin(), own.end(), [&](const auto& pair) { return pair.first == name; }))
      result.emplace_back(text);
  }
  return result;
}

// Signals for us come out of wait_for() and interrupt nothing, as long as this lives.
class HeldSignals {
 public:
  HeldSignals() {
    ::sigemptyset(&held_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&held_, signal);
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& before() const { return before_; }
  int wait_for(siginfo_t& information) const {
    constexpr timespec kPause{0, 100'000'000};
    return ::sigtimedwait(&held_, &information, &kPause);
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

class LocalProcesses {
 public:
  LocalProcesses(const LocalLaunch& launch, const HeldSignals& signals) {
    const auto port = free_port();
    auto arguments = own_arguments();
    const auto argument_pointers = pointers(arguments);
    for (int rank = 0; rank < launch.processes; ++rank) {
      auto environment = environment_of(rank, launch, port);
      const auto environment_pointers = pointers(environment);
      const auto parent = ::getpid();
      const auto id = ::fork();
      if (id < 0) fail("cannot start a process");
      if (id > 0) {
        running_.push_back(id);
        continue;
      }
      // Only what is safe between fork and exec.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::pthread_sigmask(SIG_SETMASK, &signals.before(), nullptr);
      if (::getppid() == parent) ::execve("/proc/self/exe", argument_pointers.data(), environment_pointers.data());
      ::kill(::getpid(), SIGKILL);
      ::pause();
    }
  }
  ~LocalProcesses() {
    tell(SIGKILL);
    for (const auto id : running_) ::waitpid(id, nullptr, 0);
  }
  LocalProcesses(const LocalProcesses&) = delete;
  LocalProcesses& operator=(const LocalProcesses&) = delete;

  bool all_have_ended() const { return running_.empty(); }
  void tell(int signal) const {
    for (const auto id : running_) ::kill(id, signal);
  }

  void collect() {
    std::erase_if(running_, [&](pid_t id) {
      int status = 0;
      if (::waitpid(id, &status, WNOHANG) != id) return false;
      if (WIFSIGNALED(status) && killed_ == 0) killed_ = 128 + WTERMSIG(status);
      if (WIFEXITED(status) && failed_ == 0) failed_ = WEXITSTATUS(status);
      return true;
    });
  }
  /// What one that ended by itself says comes first.
  int status() const { return failed_ != 0 ? failed_ : killed_; }

 private:
  std::vector<pid_t> running_;
  int failed_ = 0;
  int killed_ = 0;
};

}  // namespace

std::optional<int> launch_local_processes(const LocalLaunch& launch) {
  const auto place = place_from_environment();
  if (std::getenv(kMark) != nullptr) {
    // --threads, which is in the arguments, was meant for all.
    at::set_num_threads(std::max(1, std::atoi(std::getenv("OMP_NUM_THREADS"))));
    return std::nullopt;
  }
  if (place.processes > 1)
    throw ConfigError(fmt::format("the environment already makes this process one of {}: do not give --processes too",
                                  place.processes));
  const HeldSignals signals;
  LocalProcesses processes(launch, signals);
  std::optional<Clock::time_point> until;
  while (!processes.all_have_ended()) {
    siginfo_t information{};
    const int signal = signals.wait_for(information);
    // What a terminal sends, it sends to all.
    if (signal > 0 && signal != SIGCHLD && information.si_code != SI_KERNEL) processes.tell(signal);
    processes.collect();
    if (processes.status() == 0) continue;
    if (!until) until = Clock::now() + kGrace;
    if (Clock::now() >= *until) processes.tell(SIGKILL);
  }
  return processes.status();
}

}  // namespace priornet
