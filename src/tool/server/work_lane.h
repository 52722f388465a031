#pragma once

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

}  // namespace priornet::serving
