#include <testing/hostile_requests.h>
#include <testing/running_server.h>

#include <gtest/gtest.h>

#include <cstdlib>

namespace priornet {
namespace {

/// Of the process that serves, as it says itself.
double memory_at(int port) {
  const auto metrics = HttpClient(port).ask("GET", "/metrics").body;
  const std::string name = "\nprocess_resident_memory_bytes ";
  return std::atof(metrics.c_str() + metrics.find(name) + name.size());
}

void attack(int port, const std::string& valid, int requests, uint64_t seed) {
  constexpr int kClients = 8;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([&, i] {
      HostileClient client(port, valid, seed + static_cast<uint64_t>(i));
      for (int r = 0; r < requests / kClients; ++r) client.ask();
    });
  for (auto& client : clients) client.join();
}

// PRIORNET_HOSTILE_REQUESTS asks for more of them, and PRIORNET_HOSTILE_PORT for another server: one that has a model
// of images [1, 28, 28] with the name made-up.
TEST(HostileRequests, LeaveTheServerAliveSmallAndRight) {
  const auto* count = std::getenv("PRIORNET_HOSTILE_REQUESTS");
  const auto* aim = std::getenv("PRIORNET_HOSTILE_PORT");
  const int requests = count == nullptr ? 1000 : std::atoi(count);
  serving::HttpOptions http;
  http.timeout = std::chrono::milliseconds(300);
  auto model = made_up_model();
  model.description.shape = {1, 28, 28};
  model.answer = [small = model.answer](const std::string& inputs, int64_t rows) {
    std::string corners;
    for (int64_t row = 0; row < rows; ++row) corners += inputs.substr(static_cast<size_t>(row * 784), 3) + '\0';
    return small(corners, rows);
  };
  const RunningServer server({model}, {}, http);
  const int port = aim == nullptr ? server.port() : std::atoi(aim);

  std::string numbers = "7";
  for (int i = 1; i < 784; ++i) numbers += "," + std::to_string(i % 256);
  const auto valid = HttpClient::request(
      "POST", "/v2/models/made-up/infer",
      R"({"inputs":[{"name":"input","datatype":"UINT8","shape":[1,1,28,28],"data":[)" + numbers + "]}]}");
  const auto right = [&] {
    HttpClient client(port);
    client.send(valid);
    return client.reply();
  };
  const auto before = right();
  ASSERT_EQ(before.status, 200) << before.body;
  attack(port, valid, requests / 2, 1);  // buffers and caches are there after it
  const auto memory = memory_at(port);
  attack(port, valid, requests, 1000);
  const auto after = right();
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(after.body, before.body) << "the next answer is right";
  const auto grown = memory_at(port) - memory;
  EXPECT_LT(grown, 32e6) << "bytes by which memory grew";
  RecordProperty("memory_before", std::to_string(memory));
  RecordProperty("memory_grown", std::to_string(grown));
}

}  // namespace
}  // namespace priornet
