#include <sys/prctl.h>
#include <sys/socket.h>
#include <testing/tool.h>

#include <csignal>
#include <mutex>

// The tool's own main(), under a name of its own.
#define main tool_main
#include "tool/commands/main.cpp"
#undef main

// Loading LibTorch with its own libraries costs half a CPU-second per process, far more than most commands that tests
// run. So the test program forks a copy of itself before anything has run or any thread has begun. Each call of the
// tool is a fork of that copy: as fresh as a process from the disk, without the loading.

namespace priornet {
namespace {

void write_all(int file, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const auto count = ::write(file, bytes.data() + done, bytes.size() - done);
    if (count <= 0) throw std::runtime_error("the process that forks the tool is gone");
    done += static_cast<size_t>(count);
  }
}

bool read_all(int file, char* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const auto count = ::read(file, bytes + done, size - done);
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

using Texts = std::vector<std::string>;

void send(int file, const Texts& texts) {
  std::string bytes;
  for (const auto& text : texts) bytes.append(text).push_back('\0');
  const size_t size = bytes.size();
  write_all(file, std::string(reinterpret_cast<const char*>(&size), sizeof size) + bytes);
}

bool receive(int file, Texts& texts) {
  size_t size = 0;
  if (!read_all(file, reinterpret_cast<char*>(&size), sizeof size)) return false;
  std::string bytes(size, '\0');
  if (!read_all(file, bytes.data(), size)) return false;
  texts.clear();
  for (size_t at = 0; at < size; at += texts.back().size() + 1) texts.emplace_back(bytes.c_str() + at);
  return true;
}

/// As a process from the disk would begin.
[[noreturn]] void be_the_tool(Texts arguments, Texts environment, const Texts& place) {
  ::clearenv();
  for (auto& variable : environment) ::putenv(variable.data());
  ::setenv("GOMP_SPINCOUNT", "10000", 0);  // the tool cannot start itself again here: its file is the test program
  const auto opened = [](const std::string& path, int mode, int as) {
    return ::dup2(::open(path.c_str(), mode), as) == as;
  };
  if (::chdir(place[0].c_str()) != 0 || !opened("/dev/null", O_RDONLY, STDIN_FILENO) ||
      !opened(place[1], O_WRONLY, STDOUT_FILENO) || !opened(place[2], O_WRONLY, STDERR_FILENO))
    ::_exit(126);
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::exit(tool_main(static_cast<int>(arguments.size()), pointers.data()));
}

[[noreturn]] void fork_when_asked(int file) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Texts arguments, environment, place;
  while (receive(file, arguments) && receive(file, environment) && receive(file, place)) {
    const auto child = ::fork();
    if (child == 0) {
      ::close(file);
      be_the_tool(std::move(arguments), std::move(environment), place);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (::write(file, &status, sizeof status) != sizeof status) break;
  }
  ::_exit(0);
}

class ToolForks {
 public:
  ToolForks() {
    int files[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files) != 0) throw std::runtime_error("no socket pair");
    process_ = ::fork();
    if (process_ == 0) {
      ::close(files[0]);
      fork_when_asked(files[1]);
    }
    ::close(files[1]);
    file_ = files[0];
  }

  ~ToolForks() {
    ::close(file_);
    ::waitpid(process_, nullptr, 0);  // so that the CPU time of the test includes that of the tool
  }
  ToolForks(const ToolForks&) = delete;
  ToolForks& operator=(const ToolForks&) = delete;

  int run(const Texts& arguments, const Texts& place) {
    const std::lock_guard lock(mutex_);
    Texts environment;
    for (char** item = environ; *item != nullptr; ++item) environment.emplace_back(*item);
    for (const auto& texts : {arguments, environment, place}) send(file_, texts);
    int status = 0;
    if (!read_all(file_, reinterpret_cast<char*>(&status), sizeof status))
      throw std::runtime_error("the process that forks the tool is gone");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  std::mutex mutex_;
  int file_ = -1;
  pid_t process_ = 0;
};

ToolForks* tool_forks = nullptr;

}  // namespace

Outcome run_tool(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{PRIORNET_TOOL_PATH};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // These commands look for a program beside their own file, or start it again.
  for (const auto& word : arguments)
    if (word == "bench" || word == "--processes") return run_process(std::move(command));
  const TemporaryFolder folder;
  const auto out = folder.file("out", ""), err = folder.file("err", "");
  const auto status = tool_forks->run(command, {std::filesystem::current_path().string(), out.string(), err.string()});
  return {status, bytes_of(out), bytes_of(err)};
}

}  // namespace priornet

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  priornet::ToolForks forks;
  priornet::tool_forks = &forks;
  return RUN_ALL_TESTS();
}
