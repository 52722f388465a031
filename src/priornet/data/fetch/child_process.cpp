#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/data/fetch/child_process.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

namespace priornet {
namespace {

// Leads a process group of its own, so that what it starts ends with it.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    if (id_ == 0) return;
    ::kill(-id_, SIGKILL);
    wait(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool has_ended() { return wait(WNOHANG); }
  int status() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_); }

 private:
  bool wait(int flags) {
    pid_t ended = 0;
    while ((ended = ::waitpid(id_, &status_, flags)) < 0 && errno == EINTR) continue;
    if (ended == 0) return false;
    id_ = 0;
    return true;
  }

  pid_t id_;
  int status_ = 0;
};

int spawn(const std::vector<std::string>& command, const std::filesystem::path& folder,
          const std::filesystem::path& log, pid_t& id) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = ::posix_spawnp(&id, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string end_of(const std::filesystem::path& log) {
  constexpr size_t kMost = 4096;
  auto text = InputFile(log).read_rest();
  return text.size() > kMost ? text.substr(text.size() - kMost) : text;
}

}  // namespace

ChildOutcome run_child(const std::vector<std::string>& command, const ChildOptions& options, Progress& progress) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  const auto log = std::filesystem::absolute(options.folder) / ".output";
  pid_t id = 0;
  const int error = spawn(command, options.folder, log, id);
  ChildOutcome outcome;
  outcome.found = error != ENOENT;
  if (!outcome.found) return outcome;
  if (error != 0)
    throw DataError(fmt::format("{}: cannot be run: {}", command[0], std::generic_category().message(error)));

  const auto until = std::chrono::steady_clock::now() + options.timeout;
  {
    Child child(id);
    while (!child.has_ended()) {
      progress.report(options.task, 0, 1);
      outcome.timed_out = std::chrono::steady_clock::now() >= until;
      if (outcome.timed_out) break;
      std::this_thread::sleep_for(kPause);
    }
    outcome.status = child.status();
  }
  progress.report(options.task, 1, 1);
  outcome.output = end_of(log);
  std::filesystem::remove(log);
  return outcome;
}

}  // namespace priornet
