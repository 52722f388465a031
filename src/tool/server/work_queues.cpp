#include "tool/server/work_queues.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
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
  at::set_num_threads(1);  // for this thread: the lane's threads are the parallelism
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
    try {
      job();
    } catch (const std::exception&) {
      // A job answers its own failures. If even that failed, memory is short: the client's connection closes when it
      // has waited long enough, and this thread goes on with the next job.
    }
  }
}

Failure failure_of(const std::exception& error) {
  const std::string text = error.what();
  const bool of_libtorch = dynamic_cast<const c10::Error*>(&error) != nullptr;
  // LibTorch reports a failed allocation only by its text: for the CPU's memory, for a GPU's.
  const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      (of_libtorch && (says("out of memory") || says("can't allocate memory") || says("not enough memory"))))
    return {503, "the server has no memory left for this request", text};
  if (dynamic_cast<const Error*>(&error) != nullptr) return {500, "the model failed: " + text, text};
  return {500, "the model failed; the server's log says why", text};
}

BatchQueue::BatchQueue(Answerer answer, int64_t bytes_per_row, const BatchOptions& options, BatchReport report)
    : answer_(std::move(answer)),
      bytes_per_row_(bytes_per_row),
      options_(options),
      report_(std::move(report)),
      worker_([this] { work(); }) {}

BatchQueue::~BatchQueue() { finish(); }

void BatchQueue::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

int64_t BatchQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void BatchQueue::submit(std::string inputs, int64_t rows, Clock::time_point deadline, Done done) {
  std::string refusal;
  {
    const std::lock_guard lock(mutex_);
    if (finishing_) {
      refusal = "the server is shutting down";
    } else if (waiting_ + rows > options_.queue) {
      refusal =
          fmt::format("the queue is full: {} of {} inputs are waiting; try again later", waiting_, options_.queue);
    } else {
      jobs_.push_back(std::make_shared<Job>(
          Job{std::move(inputs), rows, 0, Clock::now(), deadline, std::move(done), PlainPredictions()}));
      waiting_ += rows;
    }
  }
  if (!refusal.empty()) return done({503, {}, refusal, refusal});
  changed_.notify_one();
}

void BatchQueue::work() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return finishing_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const auto until = jobs_.front()->arrived + options_.latency;
      changed_.wait_until(lock, until, [&] { return finishing_ || waiting_ >= options_.batch; });
    }
    run(take());
  }
}

std::vector<BatchQueue::Share> BatchQueue::take() {
  std::vector<Share> shares;
  std::vector<std::shared_ptr<Job>> late;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (int64_t room = options_.batch; room > 0 && !jobs_.empty();) {
      const auto job = jobs_.front();
      const bool too_late = job->deadline < now || !job->done;  // or a part of it failed
      const auto count = too_late ? job->rows - job->taken : std::min(room, job->rows - job->taken);
      if (too_late) {
        late.push_back(job);
      } else {
        shares.push_back({job, job->taken, count});
        room -= count;
      }
      job->taken += count;
      waiting_ -= count;
      if (job->taken == job->rows) jobs_.pop_front();
    }
  }
  constexpr auto kLate = "the answer took longer than the time allowed";
  for (const auto& job : late) fail(job, {504, kLate, kLate});
  return shares;
}

PlainPredictions BatchQueue::asked(const std::vector<Share>& shares) const {
  int64_t rows = 0;
  for (const auto& share : shares) rows += share.count;
  std::string inputs;
  inputs.reserve(static_cast<size_t>(rows * bytes_per_row_));
  for (const auto& [job, begin, count] : shares)
    inputs.append(job->inputs, static_cast<size_t>(begin * bytes_per_row_),
                  static_cast<size_t>(count * bytes_per_row_));
  auto answers = answer_(inputs, rows);
  if (answers.rows != rows) throw Error(fmt::format("the model answered {} of {} inputs", answers.rows, rows));
  if (report_) report_(rows);
  return answers;
}

void BatchQueue::run(const std::vector<Share>& shares) {
  if (shares.empty()) return;
  try {
    const auto answers = asked(shares);
    int64_t at = 0;
    for (const auto& share : shares) {
      deliver(share, answers, at);
      at += share.count;
    }
  } catch (const std::exception& error) {
    if (shares.size() == 1) return fail(shares.front().job, failure_of(error));
    for (const auto& share : shares) run({share});
  }
}

void BatchQueue::deliver(const Share& share, const PlainPredictions& answers, int64_t at) {
  auto& job = *share.job;
  if (!job.done) return;  // an earlier part failed
  job.answers.append(answers, at, share.count);
  if (job.answers.rows < job.rows) return;
  const auto done = std::exchange(job.done, {});
  try {
    done({200, std::move(job.answers), {}, {}});
  } catch (const std::exception& error) {  // while the answer was written down
    tell(done, failure_of(error));
  }
}

void BatchQueue::fail(const std::shared_ptr<Job>& job, const Failure& failure) {
  if (const auto done = std::exchange(job->done, {})) tell(done, failure);
}

// If even this fails, memory is short, and the client waits in vain; the queue must go on.
void BatchQueue::tell(const Done& done, const Failure& failure) noexcept {
  try {
    done({failure.status, {}, failure.said, failure.reason});
  } catch (const std::exception&) {
  }
}

}  // namespace priornet::serving
