#pragma once

#include <priornet/core/progress.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

struct ChildOptions {
  std::filesystem::path folder;  ///< where it runs
  std::chrono::milliseconds timeout{30 * 60 * 1000};
  std::string task;  ///< reported as 0 of 1 while it runs, 1 of 1 when it has ended
};

struct ChildOutcome {
  bool found = true;       ///< else there is no such program
  bool timed_out = false;  ///< and was killed
  int status = 0;          ///< of its exit, 128 + signal where one killed it
  std::string output;      ///< the end of all it wrote, at most 4 KiB
};

/// Runs a program, found in PATH, without a shell and without input, to its end. It is killed with all it started when
/// its time is up or the progress throws. DataError where no process can be made at all.
ChildOutcome run_child(const std::vector<std::string>& command, const ChildOptions& options, Progress& progress);

}  // namespace priornet
