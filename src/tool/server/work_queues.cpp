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
  try {
    for (int i = 0; i < std::max(1, options_.threads); ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    finish();
    throw;
  }
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

// An address with one large request does not shut others out: it counts with its share.
std::string BatchQueue::refusal_of(const WaitingInputs& inputs) const {
  if (finishing_) return "the server is shutting down";
  const auto line = lines_.find(inputs.address);
  const auto own = line == lines_.end() ? 0 : line->second.rows;
  if (own > 0 && own + inputs.rows > share())
    return fmt::format("{} inputs from your address are waiting, of at most {}; try again later", own, share());
  const auto more = std::min(own + inputs.rows, share()) - std::min(own, share());
  if (inputs.rows > options_.queue || counted_ + more > options_.queue)
    return fmt::format("the queue is full: {} inputs are waiting; try again later", waiting_);
  return "";
}

void BatchQueue::submit(WaitingInputs inputs, Done done) {
  std::string refusal;
  {
    const std::lock_guard lock(mutex_);
    refusal = refusal_of(inputs);
    if (refusal.empty()) {
      auto& line = lines_[inputs.address];
      const auto rows = inputs.rows;
      const auto job = std::make_shared<Job>(Job{std::move(inputs), 0, Clock::now(), std::move(done), {}});
      line.jobs.push_back(job);
      counted_ += std::min(line.rows + rows, share()) - std::min(line.rows, share());
      line.rows += rows;
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
      changed_.wait(lock, [&] { return finishing_ || !lines_.empty(); });
      if (lines_.empty()) return;
      changed_.wait_until(lock, oldest() + options_.latency, [&] { return finishing_ || waiting_ >= options_.batch; });
    }
    run(take());
  }
}

Clock::time_point BatchQueue::oldest() const {
  auto oldest = Clock::time_point::max();
  for (const auto& [address, line] : lines_) oldest = std::min(oldest, line.jobs.front()->arrived);
  return oldest;
}

std::vector<BatchQueue::Share> BatchQueue::take() {
  std::vector<Share> shares;
  std::vector<std::shared_ptr<Job>> late;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (int64_t room = options_.batch; room > 0 && !lines_.empty();) {
      auto next = lines_.upper_bound(last_);
      if (next == lines_.end()) next = lines_.begin();
      last_ = next->first;
      auto& line = next->second;
      const auto job = line.jobs.front();
      const auto rest = job->inputs.rows - job->taken;
      const bool too_late = job->inputs.deadline < now || !job->done;  // or a part of it failed
      const auto count = too_late ? rest : std::min(room, rest);
      if (too_late) {
        late.push_back(job);
      } else {
        shares.push_back({job, job->taken, count});
        room -= count;
      }
      job->taken += count;
      counted_ -= std::min(line.rows, share()) - std::min(line.rows - count, share());
      line.rows -= count;
      waiting_ -= count;
      if (count == rest) line.jobs.pop_front();
      if (line.jobs.empty()) lines_.erase(next);
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
    inputs.append(job->inputs.bytes, static_cast<size_t>(begin * bytes_per_row_),
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
  if (job.answers.rows < job.inputs.rows) return;
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
