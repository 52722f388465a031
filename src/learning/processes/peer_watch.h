#pragma once

#include <priornet/learning/processes.h>
#include <priornet/uncertainty/errors.h>

#include <chrono>
#include <memory>
#include <string>

namespace priornet {

/// Knows which processes of a run live. Each gives a sign of life several times per second, from a thread of its own,
/// in a store that process 0 holds. The process that notices that another is gone leaves a message there, so that all
/// processes end with the same message.
/// What c10d alone does not give, shown by tests of ProcessFaults:
/// - Gloo breaks an exchange off with an address and a port, not with the process that ended
///   (C10dAloneDoesNotSayWhichProcessIsGone, beside AllOthersNameTheSameProcess).
/// - A monitored barrier names a process that hangs to process 0 alone
///   (AMonitoredBarrierOfC10dNamesTheProcessToTheFirstAlone), and only where all call it.
/// - If a process hangs, an exchange waits for its time limit, which must be long, because process 0 may validate for
/// minutes while the others wait (AProcessThatHangsIsGoneWhenItsTimeIsUp).
/// - No process learns why another ended by an error of its own (AnErrorOfOneProcessIsToldToTheOthers).
class PeerWatch {
 public:
  using Milliseconds = std::chrono::milliseconds;
  using Options = ProcessPatience;

  /// Waits until all processes have come. The store already listens at `place`. Error that says which are missing.
  PeerWatch(const ProcessPlace& place, const Options& options);

  /// If `reason` is not empty, tells the others that this process stops, unless it was told to stop itself.
  void leave(const std::string& reason);

  /// This process has finished its work. Process 0, which holds the store, waits until the others have finished too:
  /// they may still have to read from it.
  void part();

  ~PeerWatch();

  /// ProcessGone if a process is known to be gone, or has been silent for too long.
  void check();

  /// An exchange has failed: waits some seconds for signs of life. ProcessGone that names the process that gave none;
  /// Error with `message` if all live.
  [[noreturn]] void explain(const std::string& message);

  /// Error unless `value` is what process 0 has under this name; `message` says so. All processes call it.
  void agree(const std::string& name, const std::string& value, const std::string& message);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  ///< with a thread that may be stuck in a broken connection for longer than we live
};

}  // namespace priornet
