#include "load.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <priornet/uncertainty/errors.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <vector>

namespace priornet::bench {
namespace {

using LoadClock = std::chrono::steady_clock;

struct Connection {
  int socket = -1;
  bool busy = false;
  LoadClock::time_point due;
  std::string received;
};

int connected(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const int one = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket);
    throw Error("cannot connect to the server that is to be measured");
  }
  return socket;
}

// Whether an answer is complete; a connection has one at a time.
bool whole(const std::string& received) {
  const auto end = received.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const auto at = received.find("Content-Length: ");
  return at < end && received.size() >= end + 4 + std::strtoull(received.c_str() + at + 16, nullptr, 10);
}

class Load {
 public:
  explicit Load(const LoadOptions& options) : options_(options) {
    for (int i = 0; i < options.connections; ++i) connections_.push_back({connected(options.port), false, {}, {}});
  }
  ~Load() {
    for (const auto& connection : connections_) ::close(connection.socket);
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  LoadResult run() {
    const auto start = LoadClock::now();
    const auto end =
        start + std::chrono::duration_cast<LoadClock::duration>(std::chrono::duration<double>(options_.seconds));
    next_ = start;
    while (LoadClock::now() < end) {
      start_requests();
      take_answers();
    }
    result_.requests_per_second =
        static_cast<double>(result_.answered) / std::chrono::duration<double>(LoadClock::now() - start).count();
    if (times_.empty()) return result_;
    std::sort(times_.begin(), times_.end());
    result_.median_seconds = times_[times_.size() / 2];
    result_.p99_seconds = times_[std::min(times_.size() - 1, times_.size() * 99 / 100)];
    return result_;
  }

 private:
  void start_requests() {
    const auto now = LoadClock::now();
    for (auto& connection : connections_) {
      if (connection.busy) continue;
      if (options_.rate > 0) {
        if (next_ > now) return;
        connection.due = next_;  // also if no connection was free in time
        next_ += std::chrono::duration_cast<LoadClock::duration>(std::chrono::duration<double>(1 / options_.rate));
      } else {
        connection.due = now;
      }
      connection.busy = true;
      if (::send(connection.socket, options_.request.data(), options_.request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(options_.request.size()))
        renew(connection);
    }
  }

  void take_answers() {
    polled_.clear();
    for (const auto& connection : connections_) polled_.push_back({connection.socket, POLLIN, 0});
    ::poll(polled_.data(), polled_.size(), 1);
    for (size_t i = 0; i < polled_.size(); ++i)
      if ((polled_[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive(connections_[i]);
  }

  void receive(Connection& connection) {
    char piece[16384];
    const auto got = ::recv(connection.socket, piece, sizeof piece, 0);
    if (got <= 0) return renew(connection);
    connection.received.append(piece, static_cast<size_t>(got));
    if (!whole(connection.received)) return;
    const bool good = connection.received.compare(9, 3, "200") == 0;
    ++(good ? result_.answered : result_.failed);
    if (good) times_.push_back(std::chrono::duration<double>(LoadClock::now() - connection.due).count());
    connection.received.clear();
    connection.busy = false;
  }

  void renew(Connection& connection) {
    ++result_.failed;
    ::close(connection.socket);
    connection.socket = -1;  // where the next line throws
    connection = {connected(options_.port), false, {}, {}};
  }

  const LoadOptions& options_;
  std::vector<Connection> connections_;
  std::vector<pollfd> polled_;
  std::vector<double> times_;
  LoadClock::time_point next_;
  LoadResult result_;
};

}  // namespace

LoadResult run_load(const LoadOptions& options) { return Load(options).run(); }

}  // namespace priornet::bench
