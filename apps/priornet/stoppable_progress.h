#pragma once

#include "stop_signal.h"
#include "terminal_progress.h"

namespace priornet::tool {

/// Progress on standard error whose work Ctrl-C and SIGTERM stop at its next report, by Stopped. One at a time.
class StoppableProgress final : public Progress {
 public:
  void report(std::string_view task, int64_t done, int64_t total) override {
    if (signal_.caught()) throw Stopped();
    shown_.report(task, done, total);
  }
  void detail(std::string_view text) override { shown_.detail(text); }

  /// Whether its next report will stop the work: for what can leave more behind if it stops by itself.
  bool stopping() const { return signal_.caught(); }

 private:
  StopSignal signal_;
  TerminalProgress shown_;
};

}  // namespace priornet::tool
