#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace priornet::serving {

/// Counts the bytes that requests hold: bodies as they arrive and as they are expanded, memory for decoding, answers
/// until the client has taken them. One address holds half of them at most. Calls from several threads.
class MemoryAccount {
 public:
  explicit MemoryAccount(int64_t limit) : limit_(limit) {}

  int64_t limit() const { return limit_; }
  int64_t share() const { return limit_ / 2; }  ///< of one address
  int64_t used() const;
  int64_t most() const;  ///< the largest number ever in use at a time

  /// Whether the share of an address has room for these bytes more.
  bool has_share(const std::string& address, int64_t bytes) const;
  /// False, and nothing is taken, if the limit or the share would be exceeded.
  bool take(const std::string& address, int64_t bytes);
  void give_back(const std::string& address, int64_t bytes);

 private:
  bool fits_share(const std::string& address, int64_t bytes) const;

  const int64_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, int64_t> addresses_;  ///< those that hold some
  int64_t used_ = 0;
  int64_t most_ = 0;
};

/// Bytes taken from an account; the destructor gives them back.
class TakenMemory {
 public:
  TakenMemory(MemoryAccount& account, std::string address, int64_t bytes)
      : account_(account), address_(std::move(address)), bytes_(account.take(address_, bytes) ? bytes : -1) {}
  ~TakenMemory() {
    if (bytes_ > 0) account_.give_back(address_, bytes_);
  }
  TakenMemory(const TakenMemory&) = delete;
  TakenMemory& operator=(const TakenMemory&) = delete;

  explicit operator bool() const { return bytes_ >= 0; }  ///< whether there was room

 private:
  MemoryAccount& account_;
  const std::string address_;
  const int64_t bytes_;
};

// Which connections are open, and which are closed to make room. Whatever one address does, another finds room: each
// address has a share of the connections and of the memory. Within a share, connections that wait are closed before
// those that work.

enum class ConnectionPhase {
  kIdle,       ///< waits for a request
  kReceiving,  ///< has received a part of one
  kAnswering,  ///< its request is worked on
  kWriting,    ///< its answer is being sent
  kClosing,    ///< its last answer is being sent; it no longer counts
};

/// A connection as the table sees it; called from any thread.
class Guest {
 public:
  virtual ~Guest() = default;
  /// Its seat is given to another connection: it ends, unless it is in another phase by now.
  virtual void make_way(ConnectionPhase phase) = 0;
  /// From now on no connection waits long for its next request.
  virtual void end_soon() = 0;
};

struct ConnectionLimits {
  int64_t connections = 256;
  int64_t per_address = 128;
  int64_t closing = 256;  ///< connections whose last answer is sent and that are only waited for
};

class ConnectionTable {
 public:
  using Phase = ConnectionPhase;
  class Seat;

  ConnectionTable(const ConnectionLimits& limits, std::shared_ptr<MemoryAccount> memory)
      : limits_(limits), memory_(std::move(memory)) {}

  /// A seat for a connection from `address`. If none is free, another connection is closed: the one that was idle
  /// longest, else the one that has been sending its request, or taking its answer, longest; from the same address if
  /// that has its share, else from the address with the most. If all are being answered, the seat only serves to
  /// refuse: Seat::refused().
  std::unique_ptr<Seat> enter(const std::string& address);

  /// Closes the connection that would be closed for another one, if there is one: for want of file descriptors, say.
  void make_room();

  /// Connections that are not closing.
  int64_t connections() const;
  /// Those of them in this phase.
  int64_t connections(Phase phase) const;
  std::vector<std::shared_ptr<Guest>> guests() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Address {
    int64_t connections = 0;
    int64_t seats = 0;  ///< including those that are closing
  };
  using Evicted = std::vector<std::pair<std::shared_ptr<Guest>, Phase>>;

  Seat* next_to_go(const std::string* address, Clock::time_point now);
  Seat* largest_unfinished(const std::string* address, int64_t above);
  void evict(Seat& seat, Evicted& evicted);
  static void tell(const Evicted& evicted);
  void count(Seat& seat, int64_t by);
  void give_back(Seat& seat);
  bool move(Seat& seat, Phase phase, Evicted& evicted);

  const ConnectionLimits limits_;
  const std::shared_ptr<MemoryAccount> memory_;
  mutable std::mutex mutex_;
  std::list<Seat*> seats_;
  std::unordered_map<std::string, Address> addresses_;
  int64_t connections_ = 0;
  int64_t closing_ = 0;
};

/// A connection's place in the table; it leaves with the object.
class ConnectionTable::Seat {
 public:
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  void belongs_to(std::weak_ptr<Guest> guest);
  bool refused() const { return refused_; }
  const std::string& address() const { return address_; }

  /// False if the connection was told to close and may not go on. An idle one may.
  bool enter(Phase phase);

  /// Bytes on the connection's account. If there is no room, the connection with the largest incomplete body is closed,
  /// if that body is larger; else returns false, and nothing is taken. One address has half of the account at most.
  /// False even for 0 bytes if this connection was told to close.
  bool take(int64_t bytes);
  void give_back();

 private:
  friend class ConnectionTable;
  Seat(ConnectionTable& table, std::string address) : table_(table), address_(std::move(address)) {}

  ConnectionTable& table_;
  const std::string address_;
  std::list<Seat*>::iterator place_;
  std::weak_ptr<Guest> guest_;
  Phase phase_ = Phase::kReceiving;
  Clock::time_point since_ = Clock::now();
  int64_t bytes_ = 0;
  bool counted_ = false;
  bool leaving_ = false;
  bool refused_ = false;
};

}  // namespace priornet::serving
