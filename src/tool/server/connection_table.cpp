#include "tool/server/connection_table.h"

#include <algorithm>
#include <utility>

namespace priornet::serving {
namespace {

using Phase = ConnectionPhase;

// How long a connection may take for one step before it can be closed for another: an honest request is faster.
constexpr std::chrono::milliseconds kMayReceive{100};
constexpr std::chrono::milliseconds kMayWrite{1000};

// The order in which connections are closed. One that is being answered never is.
struct Turn {
  Phase phase;
  std::chrono::milliseconds after;
};
constexpr Turn kTurns[] = {
    {Phase::kIdle, std::chrono::milliseconds(0)}, {Phase::kReceiving, kMayReceive}, {Phase::kWriting, kMayWrite}};

}  // namespace

int64_t MemoryAccount::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

int64_t MemoryAccount::most() const {
  const std::lock_guard lock(mutex_);
  return most_;
}

bool MemoryAccount::fits_share(const std::string& address, int64_t bytes) const {
  const auto own = addresses_.find(address);
  return (own == addresses_.end() ? 0 : own->second) + bytes <= share();
}

bool MemoryAccount::has_share(const std::string& address, int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return fits_share(address, bytes);
}

bool MemoryAccount::take(const std::string& address, int64_t bytes) {
  if (bytes <= 0) return true;
  const std::lock_guard lock(mutex_);
  if (used_ + bytes > limit_ || !fits_share(address, bytes)) return false;
  addresses_[address] += bytes;
  used_ += bytes;
  most_ = std::max(most_, used_);
  return true;
}

void MemoryAccount::give_back(const std::string& address, int64_t bytes) {
  if (bytes <= 0) return;
  const std::lock_guard lock(mutex_);
  const auto own = addresses_.find(address);
  own->second -= bytes;
  used_ -= bytes;
  if (own->second == 0) addresses_.erase(own);
}

std::unique_ptr<ConnectionTable::Seat> ConnectionTable::enter(const std::string& address) {
  std::unique_ptr<Seat> seat(new Seat(*this, address));
  Evicted evicted;
  {
    const std::lock_guard lock(mutex_);
    auto& own = addresses_[address];
    ++own.seats;
    seat->place_ = seats_.insert(seats_.end(), seat.get());
    const bool share_is_used = own.connections >= limits_.per_address;
    if (share_is_used || connections_ >= limits_.connections) {
      if (auto* other = next_to_go(share_is_used ? &address : nullptr, Clock::now()))
        evict(*other, evicted);
      else
        seat->refused_ = true;
    }
    if (seat->refused_)
      move(*seat, Phase::kClosing, evicted);
    else
      count(*seat, 1);
  }
  tell(evicted);
  return seat;
}

void ConnectionTable::make_room() {
  Evicted evicted;
  {
    const std::lock_guard lock(mutex_);
    if (auto* other = next_to_go(nullptr, Clock::now())) evict(*other, evicted);
  }
  tell(evicted);
}

int64_t ConnectionTable::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

int64_t ConnectionTable::connections(Phase phase) const {
  const std::lock_guard lock(mutex_);
  return std::count_if(seats_.begin(), seats_.end(), [phase](const Seat* seat) { return seat->phase_ == phase; });
}

std::vector<std::shared_ptr<Guest>> ConnectionTable::guests() const {
  std::vector<std::shared_ptr<Guest>> result;
  const std::lock_guard lock(mutex_);
  for (const auto* seat : seats_)
    if (auto guest = seat->guest_.lock()) result.push_back(std::move(guest));
  return result;
}

// Among those of `address`, or of the address with the most connections.
ConnectionTable::Seat* ConnectionTable::next_to_go(const std::string* address, Clock::time_point now) {
  for (const auto& [phase, after] : kTurns) {
    Seat* found = nullptr;
    int64_t most = 0;
    for (auto* seat : seats_) {
      if (seat->phase_ != phase || seat->leaving_ || !seat->counted_ || now - seat->since_ < after) continue;
      if (address != nullptr && seat->address_ != *address) continue;
      const auto crowd = addresses_[seat->address_].connections;
      if (found != nullptr && (crowd < most || (crowd == most && seat->since_ >= found->since_))) continue;
      found = seat;
      most = crowd;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

ConnectionTable::Seat* ConnectionTable::largest_unfinished(const std::string* address, int64_t above) {
  Seat* found = nullptr;
  for (auto* seat : seats_) {
    if (seat->phase_ != Phase::kReceiving || seat->leaving_ || seat->bytes_ <= above) continue;
    if (address != nullptr && seat->address_ != *address) continue;
    found = seat;
    above = seat->bytes_;
  }
  return found;
}

void ConnectionTable::evict(Seat& seat, Evicted& evicted) {
  seat.leaving_ = true;
  count(seat, -1);
  give_back(seat);  // its memory is free a moment later
  evicted.emplace_back(seat.guest_.lock(), seat.phase_);
}

// Without the lock: the last holder of a connection ends it.
void ConnectionTable::tell(const Evicted& evicted) {
  for (const auto& [guest, phase] : evicted)
    if (guest) guest->make_way(phase);
}

void ConnectionTable::count(Seat& seat, int64_t by) {
  if (seat.counted_ == (by > 0)) return;
  seat.counted_ = by > 0;
  connections_ += by;
  addresses_[seat.address_].connections += by;
}

void ConnectionTable::give_back(Seat& seat) {
  memory_->give_back(seat.address_, seat.bytes_);
  seat.bytes_ = 0;
}

bool ConnectionTable::move(Seat& seat, Phase phase, Evicted& evicted) {
  if (seat.leaving_ && seat.phase_ == Phase::kIdle && phase == Phase::kReceiving) {
    seat.leaving_ = false;  // it was asked something just then
    count(seat, 1);
  }
  if (seat.leaving_ && seat.phase_ == Phase::kReceiving && phase == Phase::kAnswering) return false;
  if (phase == Phase::kClosing && seat.phase_ != Phase::kClosing) {
    count(seat, -1);
    if (++closing_ > limits_.closing)
      for (auto* other : seats_)  // the oldest stands first
        if (other->phase_ == Phase::kClosing && !other->leaving_) {
          other->leaving_ = true;
          evicted.emplace_back(other->guest_.lock(), Phase::kClosing);
          break;
        }
  }
  seat.phase_ = phase;
  seat.since_ = Clock::now();
  return true;
}

ConnectionTable::Seat::~Seat() {
  const std::lock_guard lock(table_.mutex_);
  table_.count(*this, -1);
  table_.give_back(*this);
  if (phase_ == Phase::kClosing) --table_.closing_;
  table_.seats_.erase(place_);
  const auto own = table_.addresses_.find(address_);
  if (--own->second.seats == 0) table_.addresses_.erase(own);
}

void ConnectionTable::Seat::belongs_to(std::weak_ptr<Guest> guest) {
  const std::lock_guard lock(table_.mutex_);
  guest_ = std::move(guest);
}

bool ConnectionTable::Seat::enter(Phase phase) {
  Evicted evicted;
  bool may = false;
  {
    const std::lock_guard lock(table_.mutex_);
    may = table_.move(*this, phase, evicted);
  }
  tell(evicted);
  return may;
}

bool ConnectionTable::Seat::take(int64_t bytes) {
  Evicted evicted;
  bool taken = false;
  {
    const std::lock_guard lock(table_.mutex_);
    for (bool more = !leaving_; more && !taken;) {
      taken = table_.memory_->take(address_, bytes);
      if (taken) break;
      const bool has_share = table_.memory_->has_share(address_, bytes);
      auto* other = table_.largest_unfinished(has_share ? nullptr : &address_, bytes_ + bytes);
      more = other != nullptr;
      if (more) table_.evict(*other, evicted);
    }
    if (taken) bytes_ += bytes;
  }
  tell(evicted);
  return taken;
}

void ConnectionTable::Seat::give_back() {
  const std::lock_guard lock(table_.mutex_);
  table_.give_back(*this);
}

}  // namespace priornet::serving
