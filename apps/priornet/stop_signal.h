#pragma once

#include <exception>

namespace priornet::tool {

/// While it lives, the first Ctrl-C or SIGTERM is only noted; a second one ends the process at once. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool caught() const;
};

/// Thrown after Ctrl-C or SIGTERM: on its way up everything is cleaned up and kept that should be.
class Stopped final : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }

  /// Ends the process as the signal would have.
  [[noreturn]] static void end_process();
};

}  // namespace priornet::tool
