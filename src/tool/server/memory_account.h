#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace priornet::serving {

/// Bytes that requests hold: bodies as they arrive, what decoding takes, answers until they are taken. Calls from
/// several threads.
class MemoryAccount {
 public:
  explicit MemoryAccount(int64_t limit) : limit_(limit) {}

  int64_t limit() const { return limit_; }
  int64_t used() const { return used_; }
  int64_t most() const { return most_; }  ///< that were used at a time

  /// False, and nothing is taken, where there would be more than the limit.
  bool take(int64_t bytes) {
    const auto now = used_.fetch_add(bytes) + bytes;
    if (now > limit_ && bytes > 0) {
      used_ -= bytes;
      return false;
    }
    for (auto most = most_.load(); now > most && !most_.compare_exchange_weak(most, now);) {
    }
    return true;
  }
  void give_back(int64_t bytes) { used_ -= bytes; }

 private:
  const int64_t limit_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> most_{0};
};

/// Bytes of an account, given back when the object goes.
class TakenMemory {
 public:
  TakenMemory(MemoryAccount& account, int64_t bytes) : account_(account), bytes_(account.take(bytes) ? bytes : -1) {}
  ~TakenMemory() {
    if (bytes_ > 0) account_.give_back(bytes_);
  }
  TakenMemory(const TakenMemory&) = delete;
  TakenMemory& operator=(const TakenMemory&) = delete;

  explicit operator bool() const { return bytes_ >= 0; }  ///< whether there was room

 private:
  MemoryAccount& account_;
  const int64_t bytes_;
};

}  // namespace priornet::serving
