#pragma once

#include <gtest/gtest.h>
#include <testing/http_client.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace priornet {

/// Requests that no client should send, made from `valid`, a whole request that is answered with 200. Each has its own
/// connection and takes any answer.
class HostileClient {
 public:
  HostileClient(int port, std::string valid, uint64_t seed) : port_(port), valid_(std::move(valid)), random_(seed) {}

  void ask() {
    try {
      HttpClient client(port_);
      if (send_something(client)) client.reply();
    } catch (const std::runtime_error&) {  // refused: that is an answer too
    }
  }

 private:
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  std::string noise(size_t size) {
    std::string bytes(size, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(below(256));
    return bytes;
  }

  static std::string posted(const std::string& body, const std::string& headers = "") {
    return HttpClient::request("POST", "/v2/models/made-up/infer", body, headers);
  }

  // Returns false if no answer should be waited for.
  bool send_something(HttpClient& client) {
    switch (below(14)) {
      case 0: {  // bytes changed anywhere
        auto request = valid_;
        for (size_t i = 0; i <= below(8); ++i) request[below(request.size())] = static_cast<char>(below(256));
        client.send(request);
        return false;  // the server may wait for more bytes, so do not wait for an answer
      }
      case 1: {  // bytes changed in the body
        auto request = valid_;
        const auto body = request.find("\r\n\r\n") + 4;
        for (size_t i = 0; i <= below(8); ++i)
          request[body + below(request.size() - body)] = static_cast<char>(below(256));
        return client.send(request);
      }
      case 2:  // breaks off
        client.send(valid_.substr(0, below(valid_.size())));
        return false;
      case 3:
        return client.send(noise(1 + below(3000)) + "\r\n\r\n");
      case 4:
        return client.send(posted(noise(1 + below(3000))));
      case 5:  // larger than is allowed
        return client.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                           std::to_string((17ULL << 20) + below(1ULL << 40)) + "\r\n\r\nx");
      case 6:  // fewer bytes than announced
        client.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n" + noise(100));
        return false;
      case 7:
        return client.send(posted(std::string(1 + below(100'000), below(2) == 0 ? '[' : '{')));
      case 8:  // a huge shape with one value
        return client.send(posted(R"({"inputs":[{"name":"input","datatype":"UINT8","shape":[)" +
                                  std::to_string(below(size_t{1} << 62)) + R"(,1,28,28],"data":[1]}]})"));
      case 9: {  // wrong lengths of binary data
        const std::string body =
            R"({"inputs":[{"name":"input","datatype":"FP32","shape":[1,1,28,28],"parameters":{"binary_data_size":)" +
            std::to_string(below(size_t{1} << 40)) + "}}]}" + noise(below(4000));
        return client.send(posted(body, "Inference-Header-Content-Length: " + std::to_string(below(5000)) + "\r\n"));
      }
      case 10:  // a body that is not in chunks
        client.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" +
                    std::to_string(below(1'000'000)) + "\r\n" + noise(below(2000)));
        return false;
      case 11:  // headers without end
        return client.send("GET / HTTP/1.1\r\nHost: localhost\r\n" + std::string(below(40'000), 'a') + ": b\r\n\r\n");
      case 12:  // slow
        for (size_t i = 0; i < 5; ++i) {
          if (!client.send(valid_.substr(i * 10, 10))) break;
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return false;
      default:  // bytes that only begin like an image
        return client.send(HttpClient::request("POST", "/predict", "\x89PNG\r\n\x1a\n" + noise(below(4000))));
    }
  }

  int port_;
  std::string valid_;
  std::mt19937_64 random_;
};

/// The memory of the process at `port` in bytes, as its own metrics say; fails the test if they do not.
inline double memory_at(int port) {
  const auto metrics = HttpClient(port).ask("GET", "/metrics").body;
  const std::string name = "\nprocess_resident_memory_bytes ";
  const auto found = metrics.find(name);
  const auto bytes = found == std::string::npos ? 0.0 : std::atof(metrics.c_str() + found + name.size());
  EXPECT_GT(bytes, 1e6) << "/metrics should tell how much memory the server holds, found:\n" << metrics;
  return bytes;
}

/// A request for one image [1, 28, 28] to the model made-up.
inline std::string valid_image_request() {
  std::string numbers = "7";
  for (int i = 1; i < 784; ++i) numbers += "," + std::to_string(i % 256);
  return HttpClient::request(
      "POST", "/v2/models/made-up/infer",
      R"({"inputs":[{"name":"input","datatype":"UINT8","shape":[1,1,28,28],"data":[)" + numbers + "]}]}");
}

/// Sends this many hostile requests, from several clients at a time.
inline void attack(int port, int requests, uint64_t seed) {
  constexpr int kClients = 8;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([=] {
      HostileClient client(port, valid_image_request(), seed + static_cast<uint64_t>(i));
      for (int r = 0; r < requests / kClients; ++r) client.ask();
    });
  for (auto& client : clients) client.join();
}

/// Attacks a server that has the model made-up, of images [1, 28, 28]: the server must live on, its memory must not
/// grow, and its next answer must be right. PRIORNET_HOSTILE_REQUESTS asks for another number of requests than
/// `requests`.
inline void expect_survival(int port, int requests) {
  if (const auto* asked = std::getenv("PRIORNET_HOSTILE_REQUESTS")) requests = std::atoi(asked);
  const auto answer = [&] {
    HttpClient client(port);
    client.send(valid_image_request());
    return client.reply();
  };
  const auto before = answer();
  ASSERT_EQ(before.status, 200) << before.body;
  attack(port, requests / 2, 1);  // after this, buffers and caches are in place
  const auto memory = memory_at(port);
  attack(port, requests, 1000);
  const auto after = answer();
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(after.body, before.body) << "the next answer is right";
  const auto grown = memory_at(port) - memory;
  EXPECT_LT(grown, 32e6) << "bytes by which memory grew";
  ::testing::Test::RecordProperty("memory_before", std::to_string(memory));
  ::testing::Test::RecordProperty("memory_grown", std::to_string(grown));
}

}  // namespace priornet
