#pragma once

#include <boost/asio/steady_timer.hpp>

#include <priornet/deploy/serve/http_streams.h>

#include <functional>
#include <memory>

namespace priornet::serving {

/// The time by which a step of a connection must be over. To be used on the connection's strand. Moving it costs next
/// to nothing, which happens several times a request: one timer runs, and looks when it ends where the deadline is by
/// then.
class StepDeadline {
 public:
  explicit StepDeadline(const Strand& strand) : timer_(strand) {}

  /// `missed` is called on the strand, as long as `owner` lives.
  void watch(std::weak_ptr<void> owner, std::function<void()> missed) {
    owner_ = std::move(owner);
    missed_ = std::move(missed);
  }

  void within(std::chrono::milliseconds time) {
    due_ = Timer::clock_type::now() + time;
    if (!running_ || due_ < timer_.expiry()) run();
  }

  void none() { due_ = Timer::time_point::max(); }

 private:
  using Timer =
      asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Strand>;

  void run() {
    running_ = true;
    timer_.expires_at(due_);
    timer_.async_wait([this, owner = owner_](ErrorCode error) {
      const auto alive = owner.lock();
      if (error || !alive) return;
      running_ = false;
      if (due_ == Timer::time_point::max()) return;
      // Moved since, or this is a wait that was over when the next one was set.
      if (due_ > Timer::clock_type::now()) return run();
      due_ = Timer::time_point::max();
      missed_();
    });
  }

  Timer timer_;
  Timer::time_point due_ = Timer::time_point::max();
  bool running_ = false;
  std::weak_ptr<void> owner_;
  std::function<void()> missed_;
};

}  // namespace priornet::serving
