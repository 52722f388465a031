#include "learning/processes/peer_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "learning/processes/collectives.h"

namespace priornet {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBeat{200};
constexpr milliseconds kShortSilence{1500};  // for a process whose connection has already broken
constexpr milliseconds kPatience{5000};
constexpr const char* kVerdict = "verdict";

std::vector<uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }
std::string text(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

int64_t seconds_in(milliseconds time) { return std::chrono::duration_cast<std::chrono::seconds>(time).count(); }

std::string this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}, pid {}", host.data(), ::getpid());
}

// Do not wait for a process that is already dead.
void check_children(const ProcessPlace& place) {
  for (size_t i = 0; i < place.children.size(); ++i) {
    siginfo_t found{};
    if (::waitid(P_PID, static_cast<id_t>(place.children[i]), &found, WEXITED | WNOHANG | WNOWAIT) != 0) continue;
    if (found.si_pid == 0) continue;
    const auto how = found.si_code == CLD_EXITED ? fmt::format("with status {}", found.si_status)
                                                 : fmt::format("by a signal: {}", ::strsignal(found.si_status));
    throw Error(fmt::format("process {} of {} ended before it knew the others, {}", i + 1, place.processes, how));
  }
}

}  // namespace

struct PeerWatch::Shared {
  struct Sign {
    int64_t beats = 0;
    Clock::time_point changed = Clock::now();
  };

  ProcessPlace place;
  Options options;
  c10::intrusive_ptr<c10d::Store> store;
  std::timed_mutex store_mutex;
  std::vector<std::string> names;
  std::vector<Sign> signs;
  int64_t agreements = 0;

  std::mutex mutex;
  std::condition_variable changed;
  bool leaving = false;
  bool ended = false;                           // the thread
  bool lost = false;                            // the store
  Clock::time_point last_heard = Clock::now();  // of the store
  std::string verdict;

  void beat();
  void look_at_verdict();
  void look_at_signs();
  bool is_silent(int rank, milliseconds silence) const;
  int silent_for(milliseconds silence) const;
  bool is_over();
  void judge(int rank, const std::string& reason);
  std::string described(int rank) const;
  [[noreturn]] void end(const std::string& message);
};

std::string PeerWatch::Shared::described(int rank) const {
  return fmt::format("process {} of {} ({})", rank, place.processes, names[static_cast<size_t>(rank)]);
}

// In the thread. If the connection to the store breaks, process 0 has ended.
void PeerWatch::Shared::beat() {
  const auto key = fmt::format("beat {}", place.rank);
  std::unique_lock lock(mutex);
  while (!leaving) {
    lock.unlock();
    bool heard = false;
    try {
      const std::lock_guard store_lock(store_mutex);
      store->add(key, 1);
      look_at_verdict();
      heard = true;
    } catch (const std::exception&) {
    }
    lock.lock();
    if (!heard) {
      lost = true;
      break;
    }
    last_heard = Clock::now();
    changed.wait_for(lock, kBeat, [&] { return leaving; });
  }
  ended = true;
  changed.notify_all();
}

// Call it, and the functions below, with the store locked.
void PeerWatch::Shared::look_at_verdict() {
  if (!store->check({kVerdict})) return;
  const auto found = text(store->get(kVerdict));
  const std::lock_guard lock(mutex);
  verdict = found;
}

void PeerWatch::Shared::look_at_signs() {
  for (int rank = 0; rank < place.processes; ++rank) {
    auto& sign = signs[static_cast<size_t>(rank)];
    const auto beats = store->add(fmt::format("beat {}", rank), 0);
    if (beats == sign.beats) continue;
    sign = {beats, Clock::now()};
  }
}

bool PeerWatch::Shared::is_silent(int rank, milliseconds silence) const {
  return rank != place.rank && Clock::now() - signs[static_cast<size_t>(rank)].changed >= silence;
}

// Of the processes that were silent for too long, the one that was silent longest, or -1.
int PeerWatch::Shared::silent_for(milliseconds silence) const {
  int found = -1;
  for (int rank = 0; rank < place.processes; ++rank) {
    if (!is_silent(rank, silence)) continue;
    if (found < 0 || signs[static_cast<size_t>(rank)].changed < signs[static_cast<size_t>(found)].changed) found = rank;
  }
  return found;
}

// No further message is needed: the reason why the run ended is known, or no process can be told.
bool PeerWatch::Shared::is_over() {
  const std::lock_guard lock(mutex);
  return !verdict.empty() || lost;
}

// The first message stays.
void PeerWatch::Shared::judge(int rank, const std::string& reason) {
  store->compareSet(kVerdict, {}, bytes(fmt::format("{} is gone: {}", described(rank), reason)));
  look_at_verdict();
}

void PeerWatch::Shared::end(const std::string& message) {
  // The process that holds the store stays until the others have read it.
  if (place.rank == 0) std::this_thread::sleep_for(3 * kBeat);
  throw ProcessGone(message);
}

PeerWatch::PeerWatch(const ProcessPlace& place, const Options& options) : shared_(std::make_shared<Shared>()) {
  auto& shared = *shared_;
  shared.place = place;
  shared.options = options;
  shared.store = open_store(place, {false, options.join});
  shared.store->set(fmt::format("process {}", place.rank), bytes(this_process()));
  const auto until = Clock::now() + options.join;
  std::vector<int> missing;
  for (int rank = 0; rank < place.processes; ++rank) {
    const auto key = fmt::format("process {}", rank);
    while (!shared.store->check({key}) && Clock::now() < until) {
      check_children(place);
      std::this_thread::sleep_for(milliseconds(20));
    }
    const bool there = shared.store->check({key});
    if (!there) missing.push_back(rank);
    shared.names.push_back(there ? text(shared.store->get(key)) : "never seen");
  }
  if (!missing.empty())
    throw Error(fmt::format("process {} of {} waited {} s for the others: process {} did not come", place.rank,
                            place.processes, seconds_in(options.join), fmt::join(missing, ", ")));
  shared.signs.resize(shared.names.size());
  std::thread([held = shared_] { held->beat(); }).detach();
}

PeerWatch::~PeerWatch() {
  auto& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  shared.leaving = true;
  shared.changed.notify_all();
  shared.changed.wait_for(lock, std::chrono::seconds(1), [&] { return shared.ended; });
}

void PeerWatch::leave(const std::string& reason) {
  auto& shared = *shared_;
  if (shared.is_over()) return;
  const std::unique_lock lock(shared.store_mutex, kBeat);
  if (!lock) return;
  try {
    shared.judge(shared.place.rank, reason);
    if (shared.place.rank == 0) std::this_thread::sleep_for(3 * kBeat);
  } catch (const std::exception&) {
    // A process that cannot be told will notice by itself.
  }
}

void PeerWatch::part() {
  auto& shared = *shared_;
  const auto parted = [](int rank) { return fmt::format("parted {}", rank); };
  try {
    if (std::unique_lock lock(shared.store_mutex, kBeat); lock)
      shared.store->set(parted(shared.place.rank), bytes("yes"));
    if (shared.place.rank != 0) return;
    for (int rank = 1; rank < shared.place.processes;) {
      if (shared.is_over()) return;
      if (const std::unique_lock lock(shared.store_mutex, kBeat); lock) {
        shared.look_at_signs();
        if (shared.store->check({parted(rank)}) || shared.is_silent(rank, kShortSilence)) {
          ++rank;
          continue;
        }
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
  } catch (const std::exception&) {
    // Without a store there is no process to wait for.
  }
}

void PeerWatch::check() {
  auto& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  if (!shared.verdict.empty()) {
    const auto verdict = shared.verdict;
    lock.unlock();
    shared.end(verdict);
  }
  if (shared.lost) throw ProcessGone(shared.described(0) + " is gone: it closed its connections");
  const auto reason = fmt::format("it gave no sign of life for {} s", seconds_in(shared.options.silence));
  if (shared.place.rank != 0 && Clock::now() - shared.last_heard > shared.options.silence)
    throw ProcessGone(fmt::format("{} is gone: {}", shared.described(0), reason));
  lock.unlock();
  const std::unique_lock store_lock(shared.store_mutex, kBeat);
  if (!store_lock) return;
  try {
    shared.look_at_signs();
    if (const auto rank = shared.silent_for(shared.options.silence); rank >= 0) shared.judge(rank, reason);
  } catch (const std::exception&) {
    const std::lock_guard again(shared.mutex);
    shared.lost = true;
  }
}

void PeerWatch::explain(const std::string& message) {
  auto& shared = *shared_;
  for (const auto until = Clock::now() + kPatience; Clock::now() < until;) {
    check();
    if (const std::unique_lock lock(shared.store_mutex, kBeat); lock) {
      if (const auto rank = shared.silent_for(kShortSilence); rank >= 0) {
        try {
          shared.judge(rank, "it closed its connections");
        } catch (const std::exception&) {
          continue;  // the store is gone as well: check() finds that
        }
      }
    }
    std::this_thread::sleep_for(kBeat / 2);
  }
  throw Error(fmt::format("the exchange with the other processes failed, although all of them are alive: {}", message));
}

void PeerWatch::agree(const std::string& name, const std::string& value, const std::string& message) {
  auto& shared = *shared_;
  const auto key = fmt::format("agreement {}: {}", shared.agreements++, name);
  bool is_said = shared.place.rank != 0;
  while (true) {
    check();
    std::unique_lock lock(shared.store_mutex, kBeat);
    if (!lock) continue;
    try {
      if (!is_said) shared.store->set(key, bytes(value));
      is_said = true;
      if (shared.store->check({key})) {
        if (text(shared.store->get(key)) == value) return;
        throw ConfigError(fmt::format("process {} of {}: {}", shared.place.rank, shared.place.processes, message));
      }
    } catch (const ConfigError&) {
      throw;
    } catch (const std::exception& error) {
      lock.unlock();
      explain(error.what());
    }
    lock.unlock();
    std::this_thread::sleep_for(milliseconds(20));
  }
}

}  // namespace priornet
