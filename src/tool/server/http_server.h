#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tool/server/connection_table.h"
#include "tool/server/http_messages.h"

namespace priornet::serving {

/// An answer that was sent, for the access log.
struct AccessRecord {
  std::string peer;
  std::string method;  ///< empty where no request came whole
  std::string target;
  int status = 0;
  int64_t received = 0;  ///< bytes of the body
  int64_t sent = 0;
  double seconds = 0.0;  ///< from the end of the request's header to the answer
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8080;  ///< 0: any that is free
  int threads = 2;       ///< that read and write
  int64_t max_body = int64_t{16} << 20;
  ConnectionLimits connections;
  std::shared_ptr<MemoryAccount> memory;      ///< what all requests hold together; of 256 MiB if none is given
  std::chrono::milliseconds timeout{10'000};  ///< for a request to arrive completely, and for its answer to be taken
  std::chrono::milliseconds idle{60'000};     ///< that a connection may wait for its next request
  std::chrono::milliseconds drain{300};       ///< the same once stop() was called
  std::string tls_certificate;                ///< a PEM file with its chain; without one there is no TLS
  std::string tls_key;
  std::function<void(int status)> refused;  ///< is told about requests that never reached the handler
  std::function<void(const AccessRecord&)> answered;
};

/// HTTP/1.1 by Boost.Beast. Bad requests (400), slow ones (408), large ones (413, 431), more connections or bytes than
/// allowed (503) are answered with a JSON reason and never reach Handler::answer. Handler::admit is asked before a body
/// is read; an announced body takes no memory until it arrives. In a build without Boost, the constructor throws Error.
class HttpServer {
 public:
  /// Listens. Error that names the address if that is impossible; DataError for a certificate that cannot be used.
  HttpServer(const HttpOptions& options, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Reads the certificate and its key again. What it returns puts them into use for later connections; call it at most
  /// as long as the server lives. DataError if they cannot be used.
  std::function<void()> read_certificate();

  uint16_t port() const;
  int64_t connections() const;
  int64_t answering() const;  ///< connections whose request is worked on

  /// Accepts no further connections. Requests that have arrived, or arrive within HttpOptions::drain on an open
  /// connection, are still answered.
  void stop();
  /// Waits until stop() was called and the last connection has ended.
  void wait();

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

/// Whether this build can serve.
bool has_http_server();

}  // namespace priornet::serving
