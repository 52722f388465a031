#pragma once

#include <exception>

#include "terminal_progress.h"

namespace priornet::tool {

/// Thrown by StoppableProgress after Ctrl-C or SIGTERM: on its way up everything is cleaned up and kept that should be.
class Stopped final : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }

  /// Ends the process as the signal would have.
  [[noreturn]] static void end_process();
};

/// Progress on standard error whose work Ctrl-C and SIGTERM stop at its next report; a second one ends the process at
/// once. One at a time.
class StoppableProgress final : public Progress {
 public:
  StoppableProgress();
  ~StoppableProgress() override;

  void report(std::string_view task, int64_t done, int64_t total) override;

 private:
  TerminalProgress shown_;
};

}  // namespace priornet::tool
