#include "uncertainty/core/parallel.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

// The function that a compiler calls for "#pragma omp parallel" with GNU's runtime, which LibTorch uses. Calling it by
// name makes every compiler use that runtime and its threads; Clang's own pragmas would bring a second one into the
// process.
extern "C" void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);

namespace priornet {
namespace {

// The first exception of several threads.
class FirstError {
 public:
  template <class Work>
  void keep(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

// Runs work() on `threads` threads at once, including this one.
void run_on(int64_t threads, const std::function<void()>& work) {
  const auto call = [](void* data) { (*static_cast<const std::function<void()>*>(data))(); };
  GOMP_parallel(call, const_cast<std::function<void()>*>(&work), static_cast<unsigned>(threads), 0);
}

int64_t threads_for(int64_t parts) {
  return at::in_parallel_region() ? 1 : std::min<int64_t>(parts, at::get_num_threads());
}

}  // namespace

void parallel_for(int64_t begin, int64_t end, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (begin >= end) return;
  const auto divided = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const auto parts = threads_for(divided(end - begin, std::max<int64_t>(1, grain)));
  if (parts <= 1) return body(begin, end);
  const auto size = divided(end - begin, parts);
  std::atomic<int64_t> next = 0;
  FirstError error;
  run_on(parts, [&] {
    // Fewer threads than requested may start: each takes parts until none is left.
    for (int64_t part = next++; part < parts; part = next++) {
      const auto from = begin + part * size;
      if (from < end) error.keep([&] { body(from, std::min(end, from + size)); });
    }
  });
  error.rethrow();
}

void parallel_each(int64_t count, int64_t elements, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next = 0;
  FirstError error;
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) error.keep([&] { body(i); });
  };
  constexpr double kWorthThreads = 100000;
  const auto threads =
      static_cast<double>(count) * static_cast<double>(elements) > kWorthThreads ? threads_for(count) : 1;
  if (threads > 1)
    run_on(threads, work);
  else
    work();
  error.rethrow();
}

}  // namespace priornet
