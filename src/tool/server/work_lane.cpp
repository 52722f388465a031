#include "tool/server/work_lane.h"

#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace priornet::serving {

WorkLane::WorkLane(const WorkLaneOptions& options) : options_(options) {
  for (int i = 0; i < std::max(1, options_.threads); ++i) threads_.emplace_back([this] { work(); });
}

WorkLane::~WorkLane() { finish(); }

void WorkLane::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

int64_t WorkLane::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

bool WorkLane::submit(const std::string& address, std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    const auto own = jobs_.find(address);
    const auto of_address = own == jobs_.end() ? 0 : static_cast<int64_t>(own->second.size());
    if (finishing_ || waiting_ >= options_.waiting || of_address >= std::max<int64_t>(1, options_.waiting / 2))
      return false;
    jobs_[address].push_back(std::move(job));
    ++waiting_;
  }
  changed_.notify_one();
  return true;
}

void WorkLane::work() {
  at::set_num_threads(1);  // of this thread: the lane's threads are what there is
  constexpr int kNice = 10;
  if (options_.in_background) ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
  while (true) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return finishing_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto next = jobs_.upper_bound(last_);
      if (next == jobs_.end()) next = jobs_.begin();
      last_ = next->first;
      job = std::move(next->second.front());
      next->second.pop_front();
      if (next->second.empty()) jobs_.erase(next);
      --waiting_;
    }
    job();
  }
}

}  // namespace priornet::serving
