#pragma once

#include <priornet/deploy/predictor.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace priornet::serving {

struct WorkLaneOptions {
  int threads = 1;
  int64_t waiting = 64;        ///< jobs that may wait; of one address half as many
  bool in_background = false;  ///< its threads run when others do not
};

/// Jobs that would hold connections up, as decoding images is. Addresses take turns, so that one that asks for much
/// makes another wait for a single job at most per thread. A job may not throw.
class WorkLane {
 public:
  explicit WorkLane(const WorkLaneOptions& options);
  ~WorkLane();
  WorkLane(const WorkLane&) = delete;
  WorkLane& operator=(const WorkLane&) = delete;

  /// False, and the job is not done, where too many wait.
  bool submit(const std::string& address, std::function<void()> job);

  /// Does what it took, and ends its threads.
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

/// Asks a model: `inputs` holds `rows` inputs one after the other, in the bytes of the model's input type.
using Answerer = std::function<PlainPredictions(const std::string& inputs, int64_t rows)>;

struct BatchOptions {
  int64_t batch = 32;                                               ///< inputs a pass at most
  std::chrono::microseconds latency{std::chrono::milliseconds(5)};  ///< an input waits so long for others at most
  int64_t queue = 1024;                                             ///< inputs that may wait
};

/// What became of the inputs of one request.
struct Outcome {
  int status = 200;          ///< as HTTP counts: 200, 500 (the model failed), 503 (no room), 504 (too late)
  PlainPredictions answers;  ///< where it is 200
  std::string error;         ///< for the client
  std::string reason;        ///< for the log
};

/// An exception as a client and as a log should see it. Errors of ours are written to be read; what LibTorch throws
/// comes with addresses and source files, which are the log's alone. Where memory ran out it is a 503.
struct Failure {
  int status = 500;
  std::string said;
  std::string reason;
};
Failure failure_of(const std::exception& error);

using Done = std::function<void(Outcome)>;

/// Inputs of many requests through one model, in batches: a thread of its own takes what waits, up to a batch, as soon
/// as a batch is full or the oldest input has waited for the latency. A request of many inputs is spread over batches.
/// If a batch fails, its requests are asked again one by one, so that one's error is not the others'.
class BatchQueue {
 public:
  using BatchReport = std::function<void(int64_t rows)>;

  BatchQueue(Answerer answer, int64_t bytes_per_row, const BatchOptions& options, BatchReport report = {});
  ~BatchQueue();
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  /// `done` is called once: at once if there is no room, else by the queue's thread. `inputs` holds `rows` inputs of
  /// bytes_per_row bytes, at least one. What has not begun by the deadline is not done.
  void submit(std::string inputs, int64_t rows, Clock::time_point deadline, Done done);

  /// Takes no more, answers what it took, ends its thread.
  void finish();

  int64_t waiting() const;

 private:
  struct Job {
    std::string inputs;
    int64_t rows = 0;
    int64_t taken = 0;  ///< rows that went into batches
    Clock::time_point arrived, deadline;
    Done done;
    PlainPredictions answers;
  };
  struct Share {  ///< of a batch
    std::shared_ptr<Job> job;
    int64_t begin, count;
  };

  void work();
  std::vector<Share> take();
  void run(const std::vector<Share>& shares);
  PlainPredictions asked(const std::vector<Share>& shares) const;
  void deliver(const Share& share, const PlainPredictions& answers, int64_t at);
  static void fail(const std::shared_ptr<Job>& job, const Failure& failure);

  const Answerer answer_;
  const int64_t bytes_per_row_;
  const BatchOptions options_;
  const BatchReport report_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  int64_t waiting_ = 0;
  bool finishing_ = false;
  std::thread worker_;
};

}  // namespace priornet::serving
