#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace priornet {

struct HttpReply {
  int status = 0;                              ///< 0: the connection ended without one
  std::map<std::string, std::string> headers;  ///< names as they came
  std::string body;
};

/// A connection to a server on the loopback device, for well and badly behaved requests. Nothing waits longer than 20
/// s.
class HttpClient {
 public:
  /// `from`: the address of this end, in 127.0.0.0/8; by default the kernel chooses 127.0.0.1.
  explicit HttpClient(int port, const char* from = nullptr) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    const timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int one = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (from != nullptr) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      own.sin_addr.s_addr = ::inet_addr(from);
      ::bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof own);
    }
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      ::close(socket_);
      throw std::runtime_error("cannot connect");
    }
  }
  ~HttpClient() { ::close(socket_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Returns false if the other side accepts no more bytes.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  HttpReply reply() {
    HttpReply result;
    while (rest_.find("\r\n\r\n") == std::string::npos)
      if (!receive()) return result;
    const auto end = rest_.find("\r\n\r\n");
    const auto head = rest_.substr(0, end + 2);
    rest_.erase(0, end + 4);
    result.status = std::atoi(head.c_str() + 9);
    for (auto at = head.find("\r\n") + 2; at < head.size();) {
      const auto colon = head.find(": ", at);
      const auto line_end = head.find("\r\n", at);
      result.headers[head.substr(at, colon - at)] = head.substr(colon + 2, line_end - colon - 2);
      at = line_end + 2;
    }
    const auto length = static_cast<size_t>(std::atoll(result.headers["Content-Length"].c_str()));
    while (rest_.size() < length)
      if (!receive()) return {};
    result.body = rest_.substr(0, length);
    rest_.erase(0, length);
    return result;
  }

  /// One request on this connection, and its answer.
  HttpReply ask(const std::string& method, const std::string& target, const std::string& body = "",
                const std::string& headers = "") {
    send(request(method, target, body, headers));
    return reply();
  }

  /// `headers` are lines that end with "\r\n".
  static std::string request(const std::string& method, const std::string& target, const std::string& body,
                             const std::string& headers = "") {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

 private:
  bool receive() {
    char piece[16384];
    const auto got = ::recv(socket_, piece, sizeof piece, 0);
    if (got > 0) rest_.append(piece, static_cast<size_t>(got));
    return got > 0;
  }

  int socket_;
  std::string rest_;
};

}  // namespace priornet
