#pragma once

#include <priornet/core/progress.h>

#include <chrono>
#include <string>

namespace priornet::tool {

/// Progress on standard error: a bar that redraws itself on a terminal, a line a finished task elsewhere.
class TerminalProgress final : public Progress {
 public:
  TerminalProgress();
  ~TerminalProgress() override;

  void report(std::string_view task, int64_t done, int64_t total) override;
  void detail(std::string_view text) override { detail_ = text; }

 private:
  using Clock = std::chrono::steady_clock;

  bool on_terminal_;
  bool line_open_ = false;
  std::string task_;
  std::string detail_;  ///< of the task
  Clock::time_point started_;
  Clock::time_point drawn_;
};

}  // namespace priornet::tool
