#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace priornet {

/// How long work reports its progress. The library never prints: the tool shows a bar or lines, a test or a caller
/// that does not care passes NoProgress. Calls come from one thread.
class Progress {
 public:
  virtual ~Progress() = default;

  /// `done` of `total` units of `task` are finished; done == total ends the task.
  virtual void report(std::string_view task, int64_t done, int64_t total) = 0;

  /// A remark, such as a loss. It is shown with the reports that follow, until the next remark.
  virtual void detail(std::string_view) {}
};

class NoProgress final : public Progress {
 public:
  void report(std::string_view, int64_t, int64_t) override {}
};

/// Limits reports that may come hundreds of times per second to one line per second.
class Pace {
 public:
  /// Whether a second has passed since it last returned true; true on the first call.
  bool due() {
    const auto now = Clock::now();
    if (last_ != Clock::time_point() && now - last_ < std::chrono::seconds(1)) return false;
    last_ = now;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_;
};

}  // namespace priornet
