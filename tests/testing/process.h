#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <testing/temporary_folder.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace priornet {

/// What a process left: its exit status (128 + signal if it was killed), and all it wrote.
struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

/// Runs a program, found by its path, to its end.
inline Outcome run_process(std::vector<std::string> command) {
  const TemporaryFolder folder;
  const auto out = folder.file("out", "");
  const auto err = folder.file("err", "");
  std::vector<char*> arguments;
  for (auto& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY, 0);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot run " + command.front());
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), bytes_of(out), bytes_of(err)};
}

}  // namespace priornet
