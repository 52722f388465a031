#pragma once

#include <fcntl.h>
#include <priornet/learning/local_launch.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <testing/temporary_folder.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace priornet {

/// A program that runs beside the test, in the test's environment with `variables` ("NAME=VALUE") before it. It is
/// killed at the end of its scope.
class StartedProcess {
 public:
  StartedProcess(std::vector<std::string> command, std::vector<std::string> variables) {
    for (char** item = environ; *item != nullptr; ++item) variables.emplace_back(*item);
    const auto err = folder_.file("err", "");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY, 0);
    const int error = ::posix_spawn(&id_, command.front().c_str(), &actions, nullptr, pointers(command).data(),
                                    pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot run " + command.front());
  }
  ~StartedProcess() {
    if (status_) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  StartedProcess(const StartedProcess&) = delete;
  StartedProcess& operator=(const StartedProcess&) = delete;

  pid_t id() const { return id_; }

  /// Its exit status, 128 + signal if it was killed; -1 if it still runs after that time. The default is long enough
  /// for a busy machine.
  int wait(std::chrono::milliseconds time = std::chrono::minutes(5)) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (!status_) {
      int status = 0;
      if (::waitpid(id_, &status, WNOHANG) == id_)
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      else if (std::chrono::steady_clock::now() > until)
        return -1;
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return *status_;
  }

  /// All it wrote to standard error.
  std::string err() const { return bytes_of(folder_ / "err"); }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (auto& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }

  TemporaryFolder folder_;
  pid_t id_ = 0;
  std::optional<int> status_;
};

/// A TCP port of this machine that nobody else is given while this program runs.
inline int free_local_port() {
  static std::deque<HeldPort> held;
  return held.emplace_back().number();
}

}  // namespace priornet
