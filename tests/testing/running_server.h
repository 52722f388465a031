#pragma once

#include <testing/http_client.h>
#include <testing/made_up_model.h>
#include "tool/server/http_server.h"
#include "tool/server/inference_server.h"

namespace priornet {

/// A server of made-up models at a free port of the loopback device.
class RunningServer {
 public:
  explicit RunningServer(serving::ServerOptions inference = {}, serving::HttpOptions http = {})
      : RunningServer({made_up_model(), made_up_table_model()}, inference, http) {}

  RunningServer(std::vector<serving::ServedModel> models, const serving::ServerOptions& inference,
                serving::HttpOptions http)
      : server_(std::move(models), inference), http_(prepared(http), server_.handler()) {
    server_.connections = [this] { return http_.connections(); };
  }
  ~RunningServer() { stop(); }

  int port() const { return http_.port(); }
  int64_t connections() const { return http_.connections(); }
  serving::HttpServer& http() { return http_; }
  serving::InferenceServer& server() { return server_; }

  void stop() {
    server_.shut_down();
    http_.stop();
    http_.wait();
    server_.finish();
  }

  HttpReply ask(const std::string& method, const std::string& target, const std::string& body = "",
                const std::string& headers = "") const {
    return HttpClient(port()).ask(method, target, body, headers);
  }

 private:
  static serving::HttpOptions prepared(serving::HttpOptions http) {
    http.port = 0;
    http.drain = std::chrono::milliseconds(100);
    return http;
  }

  serving::InferenceServer server_;
  serving::HttpServer http_;
};

}  // namespace priornet
