#pragma once

#include <chrono>

namespace priornet {

/// Keeps what may come hundreds of times a second to a line a second.
class Pace {
 public:
  /// Whether a second has passed since it last said so; yes, the first time.
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
