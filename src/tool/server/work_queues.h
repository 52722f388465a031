#pragma once

#include <priornet/deploy/predictor.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace priornet::serving {

struct WorkLaneOptions {
  int threads = 1;
  int64_t waiting = 64;        ///< jobs that may wait; half as many per address
  bool in_background = false;  ///< its threads run only when others do not
};

/// Jobs that would delay connections, such as decoding images. Addresses take turns, so that one with many jobs makes
/// another wait for at most one job per thread. A job may not throw.
class WorkLane {
 public:
  explicit WorkLane(const WorkLaneOptions& options);
  ~WorkLane();
  WorkLane(const WorkLane&) = delete;
  WorkLane& operator=(const WorkLane&) = delete;

  /// False, and the job is not done, if too many wait.
  bool submit(const std::string& address, std::function<void()> job);

  /// Finishes the jobs that it has accepted, and ends its threads.
  void finish();

  int64_t waiting() const;

 private:
  void work();

  const WorkLaneOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::deque<std::function<void()>>> jobs_;  ///< by address, none empty
  std::string last_;                                               ///< whose job was taken last
  int64_t waiting_ = 0;
  bool finishing_ = false;
  std::vector<std::thread> threads_;
};

using Clock = std::chrono::steady_clock;

/// Runs a model: `inputs` holds `rows` inputs one after the other, in the bytes of the model's input type.
using Answerer = std::function<PlainPredictions(const std::string& inputs, int64_t rows)>;

struct BatchOptions {
  int64_t batch = 32;                                               ///< the most inputs per pass
  std::chrono::microseconds latency{std::chrono::milliseconds(5)};  ///< the longest time that an input waits for others
  int64_t queue = 1024;  ///< inputs that may wait; half as many per address, unless they come in one request
};

/// The inputs of one request.
struct WaitingInputs {
  std::string bytes;
  int64_t rows = 0;            ///< at least one
  Clock::time_point deadline;  ///< inputs that have not begun by then are not run
  std::string address;         ///< of the client
};

/// The result for the inputs of one request.
struct Outcome {
  int status = 200;          ///< as HTTP counts: 200, 500 (the model failed), 503 (no room), 504 (too late)
  PlainPredictions answers;  ///< if the status is 200
  std::string error;         ///< for the client
  std::string reason;        ///< for the log
};

/// An exception as a client and as a log should see it. Our own errors are written for people; LibTorch's contain
/// addresses and source files, which go only to the log. If memory ran out the status is 503.
struct Failure {
  int status = 500;
  std::string said;
  std::string reason;
};
Failure failure_of(const std::exception& error);

using Done = std::function<void(Outcome)>;

/// Runs inputs of many requests through one model, in batches: a separate thread takes waiting inputs, up to a batch,
/// as soon as a batch is full or the oldest input has waited for the latency. A request with many inputs is spread over
/// batches. Addresses take turns. If a batch fails, its requests run again one by one, so that one request's error does
/// not affect the others.
class BatchQueue {
 public:
  using BatchReport = std::function<void(int64_t rows)>;

  BatchQueue(Answerer answer, int64_t bytes_per_row, const BatchOptions& options, BatchReport report = {});
  ~BatchQueue();
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  /// `done` is called once: at once if there is no room, else by the queue's thread. Each row has bytes_per_row bytes.
  void submit(WaitingInputs inputs, Done done);

  /// Accepts no more, answers what it has accepted, ends its thread.
  void finish();

  int64_t waiting() const;

 private:
  struct Job {
    WaitingInputs inputs;
    int64_t taken = 0;  ///< rows that went into batches
    Clock::time_point arrived;
    Done done;
    PlainPredictions answers;
  };
  struct Share {  ///< of a batch
    std::shared_ptr<Job> job;
    int64_t begin, count;
  };

  /// Jobs of one address.
  struct Line {
    std::deque<std::shared_ptr<Job>> jobs;  ///< at least one
    int64_t rows = 0;                       ///< that wait
  };

  std::string refusal_of(const WaitingInputs& inputs) const;
  int64_t share() const { return std::max<int64_t>(1, options_.queue / 2); }
  void work();
  Clock::time_point oldest() const;
  std::vector<Share> take();
  void run(const std::vector<Share>& shares);
  PlainPredictions asked(const std::vector<Share>& shares) const;
  void deliver(const Share& share, const PlainPredictions& answers, int64_t at);
  static void fail(const std::shared_ptr<Job>& job, const Failure& failure);
  static void tell(const Done& done, const Failure& failure) noexcept;

  const Answerer answer_;
  const int64_t bytes_per_row_;
  const BatchOptions options_;
  const BatchReport report_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Line> lines_;  ///< by address
  std::string last_;                   ///< whose inputs were taken last
  int64_t waiting_ = 0;
  int64_t counted_ = 0;  ///< the same, but of each address its share at most
  bool finishing_ = false;
  std::thread worker_;
};

}  // namespace priornet::serving
