#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace priornet {

struct FileRequest {
  std::string path;   ///< "/a/b"
  int64_t from = -1;  ///< first byte of the range; -1 without a range
};

/// How the server answers one request.
struct FileReply {
  std::string body;                ///< the whole file
  int status = 200;                ///< 206 if ranges are served and one was asked for
  bool serves_ranges = true;       ///< if not, the whole file is sent, with status 200
  int64_t range_off_by = 0;        ///< how many bytes too late a range begins
  int64_t break_after = -1;        ///< closes the connection after that many bytes of the answer
  bool stalls = false;             ///< at that point sends no more, but keeps the connection open
  int64_t claimed_length = -1;     ///< instead of the true Content-Length
  bool says_length = true;         ///< if not, there is no Content-Length, and the closed connection marks the end
  std::string location;            ///< target of a redirect
  int bytes_per_millisecond = -1;  ///< how fast it sends at most
};

/// An HTTP/1.1 server on the loopback device that answers as the test says and records the requests. It has one thread
/// per connection and answers one request per connection.
class FileServer {
 public:
  using Script = std::function<FileReply(const FileRequest&)>;

  explicit FileServer(Script script) : script_(std::move(script)) {
    ::setenv("no_proxy", "127.0.0.1", 1);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, plain, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, plain, &size) != 0)
      throw std::runtime_error("cannot listen on the loopback device");
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  ~FileServer() {
    stopping_ = true;
    acceptor_.join();
    for (auto& thread : threads_) thread.join();
    ::close(listener_);
  }

  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  std::string url(const std::string& path = "/") const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

  std::vector<FileRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void accept_all() {
    while (!stopping_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 20) <= 0) continue;
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection >= 0) threads_.emplace_back([this, connection] { serve(connection); });
    }
  }

  void serve(int connection) {
    std::string head;
    char piece[4096];
    while (head.find("\r\n\r\n") == std::string::npos) {
      const auto got = ::recv(connection, piece, sizeof piece, 0);
      if (got <= 0) break;
      head.append(piece, static_cast<size_t>(got));
    }
    if (head.find("\r\n\r\n") != std::string::npos) answer(connection, parsed(head));
    ::close(connection);
  }

  static FileRequest parsed(const std::string& head) {
    FileRequest request;
    const auto begin = head.find(' ') + 1;
    request.path = head.substr(begin, head.find(' ', begin) - begin);
    const std::string range = "Range: bytes=";
    if (const auto at = head.find(range); at != std::string::npos)
      request.from = std::stoll(head.substr(at + range.size()));
    return request;
  }

  void answer(int connection, const FileRequest& request) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const auto reply = script_(request);
    const auto whole = static_cast<int64_t>(reply.body.size());
    const auto from = request.from + reply.range_off_by;
    int status = reply.status;
    std::string body = reply.body;
    std::string headers;
    if (status == 200 && reply.serves_ranges && request.from >= 0) {
      status = from < whole ? 206 : 416;
      body = status == 206 ? reply.body.substr(static_cast<size_t>(from)) : "";
      headers += status == 206 ? "Content-Range: bytes " + std::to_string(from) + "-" + std::to_string(whole - 1) +
                                     "/" + std::to_string(whole) + "\r\n"
                               : "Content-Range: bytes */" + std::to_string(whole) + "\r\n";
    }
    const auto length = reply.claimed_length >= 0 ? reply.claimed_length : static_cast<int64_t>(body.size());
    if (reply.says_length) headers += "Content-Length: " + std::to_string(length) + "\r\n";
    if (!reply.location.empty()) headers += "Location: " + reply.location + "\r\n";
    send(connection, "HTTP/1.1 " + std::to_string(status) + " As told\r\nConnection: close\r\n" + headers + "\r\n");
    if (reply.break_after >= 0) body.resize(std::min(body.size(), static_cast<size_t>(reply.break_after)));
    send(connection, body, reply.bytes_per_millisecond);
    if (reply.stalls) wait_for_close(connection);
  }

  void send(int connection, std::string_view bytes, int pace = -1) const {
    while (!bytes.empty() && !stopping_) {
      const auto piece = pace > 0 ? bytes.substr(0, static_cast<size_t>(pace)) : bytes;
      const auto sent = ::send(connection, piece.data(), piece.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
      if (pace > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void wait_for_close(int connection) const {
    pollfd waiting{connection, POLLIN, 0};
    while (!stopping_ && ::poll(&waiting, 1, 20) == 0) continue;
  }

  Script script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread acceptor_;
  std::vector<std::thread> threads_;  ///< of the acceptor's thread until it has ended
  mutable std::mutex mutex_;
  std::vector<FileRequest> requests_;
};

}  // namespace priornet
