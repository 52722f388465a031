#include <priornet/learning/local_launch.h>

#include <ATen/Parallel.h>
#include <arpa/inet.h>
#include <fmt/format.h>
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
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace priornet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kMark = "PRIORNET_LOCAL_PROCESS";
constexpr const char* kThisMachine = "127.0.0.1";
constexpr std::chrono::seconds kGrace{8};  // time for the others to notice, and to say which process is gone

int threads_of_one(const LocalLaunch& launch) { return std::max(1, launch.threads / launch.processes); }

[[noreturn]] void fail(const char* what) {
  throw Error(fmt::format("{}: {}", what, std::generic_category().message(errno)));
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
      {"MASTER_ADDR", kThisMachine},
      {"MASTER_PORT", std::to_string(port)},
      {"OMP_NUM_THREADS", std::to_string(threads_of_one(launch))},
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

pid_t start(int rank, const LocalLaunch& launch, int port) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  auto arguments = own_arguments();
  auto environment = environment_of(rank, launch, port);
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);
  const auto parent = ::getpid();
  const auto id = ::fork();
  if (id < 0) fail("no process can be made");
  if (id > 0) return id;
  // Only calls that are safe between fork and exec.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) ::execve(program.c_str(), argument_pointers.data(), environment_pointers.data());
  ::kill(::getpid(), SIGKILL);
  return ::pause();
}

}  // namespace

HeldPort::HeldPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (socket_ < 0) fail("cannot make a socket");
  const int yes = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* general = reinterpret_cast<sockaddr*>(&address);
  if (::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 || ::bind(socket_, general, size) != 0 ||
      ::getsockname(socket_, general, &size) != 0) {
    const auto reason = errno;
    ::close(socket_);
    errno = reason;
    fail("no port of this machine is free");
  }
  number_ = ntohs(address.sin_port);
}

HeldPort::~HeldPort() { ::close(socket_); }

LocalProcesses::LocalProcesses(const LocalLaunch& launch) : place_(place_from_environment()) {
  if (launch.processes < 1)
    throw ArgumentError(fmt::format("LocalProcesses: processes should be at least 1, found {}", launch.processes));
  if (std::getenv(kMark) != nullptr) {
    // --threads, which is among the arguments, was meant for all processes together.
    at::set_num_threads(std::max(1, std::atoi(std::getenv("OMP_NUM_THREADS"))));
    return;
  }
  if (place_.processes > 1)
    throw ConfigError(fmt::format("the environment already makes this process one of {}: do not give --processes too",
                                  place_.processes));
  place_.processes = launch.processes;
  place_.master = kThisMachine;
  place_.port = port_.emplace().number();
  try {
    for (int rank = 1; rank < launch.processes; ++rank) place_.children.push_back(start(rank, launch, place_.port));
  } catch (...) {
    for (const auto id : place_.children) ::kill(id, SIGKILL);
    end_children();
    throw;
  }
  at::set_num_threads(threads_of_one(launch));
}

LocalProcesses::~LocalProcesses() { end_children(); }

void LocalProcesses::end_children() const {
  const auto until = Clock::now() + kGrace;
  for (const auto id : place_.children) {
    while (::waitpid(id, nullptr, WNOHANG) == 0) {
      if (Clock::now() >= until) ::kill(id, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

}  // namespace priornet
