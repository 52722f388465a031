#include <priornet/uncertainty/errors.h>

#include "tool/server/http_server.h"

// Replaces the server if Boost's headers were not found.

namespace priornet::serving {

class HttpServer::Listener {};

HttpServer::HttpServer(const HttpOptions&, Handler) {
  throw Error("this build has no Boost.Beast: it cannot serve (Debian: libboost-dev, then build again)");
}
HttpServer::~HttpServer() = default;
std::function<void()> HttpServer::read_certificate() { return {}; }
uint16_t HttpServer::port() const { return 0; }
int64_t HttpServer::connections() const { return 0; }
int64_t HttpServer::answering() const { return 0; }
void HttpServer::stop() {}
void HttpServer::wait() {}
bool has_http_server() { return false; }

}  // namespace priornet::serving
