#pragma once

#include <priornet/learning/progress.h>

#include <chrono>
#include <exception>
#include <string>
#include <string_view>

namespace priornet::tool {

// Names of files, classes and columns cannot control the terminal: only line ends and tabs go there as they are
// (learning/base/names.h).

/// Writes to standard output. DataError if it cannot be written, as on a full disk.
void print(std::string_view text);

/// From here on note() and progress print nothing, for --quiet.
void be_quiet();

/// A line on standard error for information: how training goes, what was written.
void note(std::string_view line);

/// A line on standard error that the user should act on; --quiet does not silence it.
void warn(std::string_view line);

/// One line on standard error that says why something failed or was stopped.
void complain(std::string_view line);

/// Progress on standard error: a bar that redraws itself on a terminal, one line per finished task elsewhere.
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

/// While this object lives, the first Ctrl-C or SIGTERM is only noted; a second one ends the process at once. One at a
/// time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool caught() const;
};

/// Thrown after Ctrl-C or SIGTERM, so that everything is cleaned up and finished work is kept. run_tool() catches it
/// and ends the process.
class Stopped final : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }

  /// Ends the process as the signal would have.
  [[noreturn]] static void end_process();
};

/// Progress on standard error. After Ctrl-C or SIGTERM its next report stops the work by throwing Stopped. One at a
/// time.
class StoppableProgress final : public Progress {
 public:
  /// In one of several processes: the same without output.
  explicit StoppableProgress(bool speaks = true) : speaks_(speaks) {}

  void report(std::string_view task, int64_t done, int64_t total) override {
    if (signal_.caught() && !asked_) throw Stopped();
    asked_ = false;
    if (speaks_) shown_.report(task, done, total);
  }
  void detail(std::string_view text) override { shown_.detail(text); }

  /// For work that stops by itself and keeps more that way: whether it should stop. The next report then does not
  /// throw.
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
