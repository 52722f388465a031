#pragma once

#include "stop_signal.h"
#include "terminal_progress.h"

namespace priornet::tool {

/// Progress on standard error whose work Ctrl-C and SIGTERM stop at its next report, by Stopped. One at a time.
class StoppableProgress final : public Progress {
 public:
  /// One of several processes does the same in silence.
  explicit StoppableProgress(bool speaks = true) : speaks_(speaks) {}

  void report(std::string_view task, int64_t done, int64_t total) override {
    if (signal_.caught() && !asked_) throw Stopped();
    asked_ = false;
    if (speaks_) shown_.report(task, done, total);
  }
  void detail(std::string_view text) override { shown_.detail(text); }

  /// For work that leaves more behind if it stops by itself: whether it should. The report after it stops nothing.
  bool stopping() {
    asked_ = true;
    return signal_.caught();
  }

 private:
  bool speaks_;
  bool asked_ = false;  ///< since the last report
  StopSignal signal_;
  TerminalProgress shown_;
};

}  // namespace priornet::tool
