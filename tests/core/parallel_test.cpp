#include "uncertainty/core/parallel.h"

#include <ATen/Parallel.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace priornet {
namespace {

// As many threads as a test asks for, and the number before it afterwards.
class WithThreads : public testing::Test {
 protected:
  WithThreads() : before_(at::get_num_threads()) { at::set_num_threads(3); }
  ~WithThreads() override { at::set_num_threads(before_); }

 private:
  int before_;
};
using ParallelFor = WithThreads;
using ParallelEach = WithThreads;

TEST_F(ParallelFor, CoversEveryPlaceOnceInPartsThatAreLargeEnough) {
  for (const int64_t size : {0, 1, 2, 3, 4, 7, 100, 1001}) {
    for (const int64_t grain : {0, 1, 2, 50, 5000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(size));
      std::atomic<int> parts = 0;
      parallel_for(10, 10 + size, grain, [&](int64_t begin, int64_t end) {
        ++parts;
        EXPECT_TRUE(end - begin >= std::min(grain, size) || end == 10 + size) << begin << " to " << end;
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i - 10)];
      });
      for (const auto& times : seen) EXPECT_EQ(times, 1) << size << " by " << grain;
      EXPECT_LE(parts, 3);
    }
  }
}

// A part that waits for another ends only if both run at once.
TEST_F(ParallelFor, RunsPartsAtTheSameTime) {
  std::mutex mutex;
  std::condition_variable changed;
  int started = 0;
  bool together = true;
  parallel_for(0, 3, 1, [&](int64_t, int64_t) {
    std::unique_lock lock(mutex);
    ++started;
    changed.notify_all();
    together = changed.wait_for(lock, std::chrono::minutes(1), [&] { return started == 3; }) && together;
  });
  EXPECT_TRUE(together) << started << " parts had started";
}

TEST_F(ParallelFor, IsOnePartInsideAnother) {
  std::atomic<int> inner_parts = 0;
  std::atomic<int> outer_parts = 0;
  parallel_for(0, 3, 1, [&](int64_t, int64_t) {
    ++outer_parts;
    parallel_for(0, 100, 1, [&](int64_t, int64_t) { ++inner_parts; });
  });
  EXPECT_EQ(outer_parts, 3);
  EXPECT_EQ(inner_parts, 3);
}

TEST_F(ParallelFor, ThrowsWhatAPartThrewOnceTheOthersAreDone) {
  std::atomic<int> done = 0;
  const auto work = [&](int64_t begin, int64_t) {
    if (begin == 0) throw std::runtime_error("the first part");
    ++done;
  };
  EXPECT_THROW(parallel_for(0, 3, 1, work), std::runtime_error);
  EXPECT_EQ(done, 2);
}

TEST_F(ParallelEach, VisitsEachOnceWhetherWorthThreadsOrNot) {
  for (const int64_t elements : {1, 1000000}) {
    std::vector<std::atomic<int>> seen(100);
    parallel_each(100, elements, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
  }
  EXPECT_THROW(parallel_each(5, 1000000,
                             [](int64_t i) {
                               if (i == 4) throw std::logic_error("the last");
                             }),
               std::logic_error);
}

}  // namespace
}  // namespace priornet
