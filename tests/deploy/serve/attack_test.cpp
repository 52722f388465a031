#include <fcntl.h>
#include <priornet/uncertainty/errors.h>
#include <sys/resource.h>
#include <testing/running_server.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "tool/server/connection_table.h"
#include "tool/server/work_queues.h"

// What one hostile client can do, while another client is still served. bench/attacks.py measures how fast.

namespace priornet {
namespace {

using namespace std::chrono_literals;

constexpr const char* kElsewhere = "127.0.0.2";

std::string reason_in(const HttpReply& reply) {
  return reply.body.empty() ? "no answer" : nlohmann::json::parse(reply.body).at("error").get<std::string>();
}

std::string promise_of(int64_t bytes, const std::string& path = "/predict", const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "Content-Length: " + std::to_string(bytes) +
         "\r\n\r\n";
}

/// Threads wait at this gate until it is opened.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

// A model whose images are as large as their bodies say ("9999 x" is 9,999 x 9,999 pixels). Decoding one ends when the
// gate opens.
serving::ServedModel model_with_large_images(Gate& gate) {
  auto model = made_up_model();
  model.facts_of_image = [](std::string_view file) {
    const auto side = std::atoll(std::string(file).c_str());
    return ImageFacts{std::max<int64_t>(side, 2), std::max<int64_t>(side, 2), 0};
  };
  model.input_of_image = [&gate](std::string_view file) {
    if (std::atoll(std::string(file).c_str()) > 0) gate.pass();
    return std::string("\1\11\0\0", 4);
  };
  return model;
}

TEST(Attack, LargeImagesHoldNobodyElseUp) {
  Gate gate;
  serving::ServerOptions inference;
  inference.timeout = 60s;
  inference.memory = std::make_shared<serving::MemoryAccount>(int64_t{256} << 20);
  RunningServer server({model_with_large_images(gate)}, inference, {});
  std::vector<std::unique_ptr<HttpClient>> attackers;
  for (int i = 0; i < 40; ++i) {
    attackers.push_back(std::make_unique<HttpClient>(server.port()));
    attackers.back()->send(HttpClient::request("POST", "/predict", "6000 x"));
    gate.wait_for(1);  // the first is being decoded before the others come
  }
  EXPECT_EQ(server.ask("GET", "/v2/health/live").status, 200);
  EXPECT_EQ(server.ask("POST", "/predict", "small").status, 200) << "of the same address";
  EXPECT_EQ(HttpClient(server.port(), kElsewhere).ask("POST", "/predict", "small").status, 200);
  HttpClient photo(server.port(), kElsewhere);
  photo.send(HttpClient::request("POST", "/predict", "4000 x"));
  EXPECT_LT(inference.memory->most(), int64_t{32} << 20) << "6,000 rows of a few pixels, one image at a time";
  // One image is being decoded, and eight of one address may wait: the server refuses all others before the gate opens.
  const auto refusals = [&] {
    const auto text = server.ask("GET", "/metrics").body;
    const std::string line = "priornet_requests_total{path=\"/predict\",status=\"503\"} ";
    const auto at = text.find(line);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + line.size());
  };
  EXPECT_TRUE(eventually([&] { return refusals() == 40 - 9; })) << refusals();
  gate.open();
  int refused = 0;
  for (auto& attacker : attackers) {
    const auto reply = attacker->reply();
    if (reply.status == 503) {
      ++refused;
      EXPECT_EQ(reason_in(reply), "too many inputs wait to be decoded");
    } else {
      EXPECT_EQ(reply.status, 200);
    }
  }
  EXPECT_EQ(refused, 40 - 9);
  EXPECT_EQ(photo.reply().status, 200) << "another address had its turn";
  EXPECT_TRUE(eventually([&] { return inference.memory->used() == 0; }));
}

TEST(Attack, TooManyPixelsAreRefusedBeforeTheyAreDecoded) {
  Gate gate;
  serving::ServerOptions inference;
  inference.max_pixels = 1'000'000;
  const RunningServer server({model_with_large_images(gate)}, inference, {});
  const auto reply = server.ask("POST", "/predict", "1001 x");
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reason_in(reply), "an image should have at most 1000000 pixels, found 1001 x 1001");
}

TEST(Attack, ImagesWhoseDecoderCannotBeBoundedAreRefusedUnlessAllowed) {
  auto model = made_up_model();
  model.facts_of_image = [](std::string_view) { return ImageFacts{44, 76, 0}; };
  model.input_of_image = [](std::string_view) { return std::string(4, '\0'); };
  const std::string avif(
      "\0\0\0\x1c"
      "ftypavif"
      "\0\0\0\0"
      "avifmif1",
      24);
  {
    const RunningServer server({model}, {}, {});
    const auto reply = server.ask("POST", "/predict", avif);
    EXPECT_EQ(reply.status, 415);
    EXPECT_EQ(reason_in(reply),
              "HEIC and AVIF images are not taken: send a JPEG or a PNG, or start the server with --heic");
  }
  serving::ServerOptions inference;
  inference.takes_heic = true;
  const RunningServer server({model}, inference, {});
  EXPECT_EQ(server.ask("POST", "/predict", avif).status, 200);
}

TEST(Attack, WhatTakesTooMuchMemoryToDecodeIsRefused) {
  auto model = made_up_model();
  model.facts_of_image = [](std::string_view) { return ImageFacts{1000, 1000, 3'000'000}; };
  serving::ServerOptions inference;
  inference.memory = std::make_shared<serving::MemoryAccount>(4'000'000);
  const RunningServer server({model}, inference, {});
  const auto reply = server.ask("POST", "/predict", "abcd");
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reason_in(reply), "decoding this needs 4 MB of memory, but the server has 2");
}

TEST(Attack, APromiseOfABodyHoldsNothing) {
  serving::HttpOptions http;
  http.memory = std::make_shared<serving::MemoryAccount>(int64_t{64} << 20);
  const RunningServer server({}, http);
  std::vector<std::unique_ptr<HttpClient>> attackers;
  for (int i = 0; i < 64; ++i) {
    attackers.push_back(std::make_unique<HttpClient>(server.port()));
    attackers.back()->send(promise_of(int64_t{16} << 20));
  }
  EXPECT_TRUE(eventually([&] { return server.connections() == 64; }));
  EXPECT_EQ(http.memory->most(), 0);
  EXPECT_EQ(server.ask("POST", "/predict", "abcd").status, 200);
  attackers[0]->send(std::string(100'000, 'x'));
  EXPECT_TRUE(eventually([&] { return http.memory->used() >= 100'000; }));
  EXPECT_LT(http.memory->used(), 300'000) << "what has come, and room for as much again";
}

TEST(Attack, TheHeaderDecidesWhetherABodyIsReadAtAll) {
  serving::ServerOptions inference;
  inference.token = "s3cret";
  const RunningServer server(inference);
  const auto answered = [&](const std::string& request) {
    HttpClient client(server.port());
    client.send(request);
    const auto reply = client.reply();
    EXPECT_EQ(reply.headers.at("Connection"), "close") << "its body is not waited for";
    return reply.status;
  };
  EXPECT_EQ(answered(promise_of(1'000'000)), 401);
  const std::string token = "Authorization: Bearer s3cret\r\n";
  EXPECT_EQ(answered(promise_of(1'000'000, "/v2/models/nobody/infer", token)), 404);
  EXPECT_EQ(answered(promise_of(1'000'000, "/v2/models", token)), 405);
  EXPECT_EQ(answered("GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n"), 413)
      << "nobody would read it";
  EXPECT_EQ(HttpClient(server.port()).ask("GET", "/v2", "", "").status, 401);
}

TEST(Attack, AnAddressHoldsHalfOfTheMemoryAtMost) {
  serving::HttpOptions http;
  http.memory = std::make_shared<serving::MemoryAccount>(400'000);
  const RunningServer server({}, http);
  std::vector<std::unique_ptr<HttpClient>> attackers;
  for (int i = 0; i < 4; ++i) {
    attackers.push_back(std::make_unique<HttpClient>(server.port()));
    attackers.back()->send(promise_of(90'000) + std::string(80'000, 'x'));
  }
  EXPECT_TRUE(eventually([&] { return http.memory->used() >= 160'000; }));
  HttpClient other(server.port(), kElsewhere);
  EXPECT_EQ(other.ask("POST", "/predict", std::string(90'000, 'x')).status, 400) << "read whole, and no image";
  EXPECT_LE(http.memory->most(), 400'000);
}

// Each body arrives as a hundred bytes and becomes 60,000, which are held until it is answered.
TEST(Attack, WhatExpandsCountsForItsAddress) {
  Gate gate;
  auto model = made_up_table_model();
  model.answer = [&gate, answer = model.answer](const std::string& inputs, int64_t rows) {
    gate.pass();
    return answer(inputs, rows);
  };
  serving::ServerOptions inference;
  inference.timeout = 60s;
  inference.memory = std::make_shared<serving::MemoryAccount>(400'000);
  serving::HttpOptions http;
  http.memory = inference.memory;
  const RunningServer server({model}, inference, http);
  const auto body =
      serving::compressed(R"({"features":[1,2]})" + std::string(60'000, ' '), serving::ContentCoding::kGzip);
  const auto request = HttpClient::request("POST", "/predict", body, "Content-Encoding: gzip\r\n");
  std::vector<std::unique_ptr<HttpClient>> attackers;
  for (int i = 0; i < 6; ++i) {
    attackers.push_back(std::make_unique<HttpClient>(server.port()));
    attackers.back()->send(request);
    if (i >= 3) EXPECT_EQ(attackers.back()->reply().status, 503) << "number " << i;
    if (i < 3) EXPECT_TRUE(eventually([&] { return inference.memory->used() > (i + 1) * 60'000; }));
  }
  EXPECT_LE(inference.memory->used(), 200'000);
  HttpClient other(server.port(), kElsewhere);
  other.send(request);
  EXPECT_TRUE(eventually([&] { return inference.memory->used() > 240'000; })) << "another address has its own share";
  gate.open();
  EXPECT_EQ(other.reply().status, 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(attackers[static_cast<size_t>(i)]->reply().status, 200);
  EXPECT_TRUE(eventually([&] { return inference.memory->used() == 0; }));
}

TEST(Attack, TheLargestUnfinishedBodyMakesWay) {
  serving::HttpOptions http;
  http.memory = std::make_shared<serving::MemoryAccount>(200'000);
  const RunningServer server({}, http);
  HttpClient slow(server.port());
  slow.send(promise_of(100'000) + std::string(99'000, 'x'));
  EXPECT_TRUE(eventually([&] { return http.memory->used() >= 99'000; }));
  EXPECT_EQ(server.ask("POST", "/predict", std::string(50'000, 'x')).status, 400) << "read whole, and no image";
  const auto reply = slow.reply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.headers.at("Retry-After"), "1");
  EXPECT_TRUE(eventually([&] { return http.memory->used() == 0; }));
}

TEST(ConnectionTable, GivesNothingMoreToOneThatHasToMakeWay) {
  const auto memory = std::make_shared<serving::MemoryAccount>(200);
  serving::ConnectionTable table({}, memory);
  const auto large = table.enter("a"), small = table.enter("a");
  large->enter(serving::ConnectionPhase::kReceiving);
  EXPECT_TRUE(large->take(100));
  EXPECT_TRUE(large->take(0));
  EXPECT_TRUE(small->take(50));
  EXPECT_EQ(memory->used(), 50);
  EXPECT_FALSE(large->take(0)) << "bytes that had just arrived are refused too";
}

TEST(Attack, IdleConnectionsMakeWay) {
  serving::HttpOptions http;
  http.connections = {4, 4, 4};
  const RunningServer server({}, http);
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(std::make_unique<HttpClient>(server.port()));
    EXPECT_EQ(idle.back()->ask("GET", "/v2").status, 200) << i;
  }
  EXPECT_EQ(idle.front()->ask("GET", "/v2").status, 0) << "closed";
  EXPECT_EQ(idle.back()->ask("GET", "/v2").status, 200);
  EXPECT_LE(server.connections(), 4);
}

TEST(Attack, SlowRequestsMakeWay) {
  serving::HttpOptions http;
  http.connections = {4, 4, 4};
  http.memory = std::make_shared<serving::MemoryAccount>(1 << 20);
  const RunningServer server({}, http);
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<HttpClient>(server.port()));
    slow.back()->send(promise_of(1000) + std::string(100, 'x'));
    EXPECT_TRUE(eventually([&] { return http.memory->used() > 200 * i; })) << "its bytes are counted";
  }
  // They lose their places once they have taken longer than an honest request does.
  EXPECT_TRUE(eventually([&] { return server.ask("GET", "/v2/health/live").status == 200; }));
  const auto reply = slow.front()->reply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reason_in(reply), "the request took long to arrive, and others need its place");
}

TEST(Attack, AnAddressHasItsShareOfTheConnections) {
  Gate gate;
  serving::HttpOptions http;
  http.connections = {8, 4, 8};
  RunningServer server({model_with_large_images(gate)}, {}, http);
  std::vector<std::unique_ptr<HttpClient>> busy;
  for (int i = 0; i < 4; ++i) {
    busy.push_back(std::make_unique<HttpClient>(server.port()));
    busy.back()->send(HttpClient::request("POST", "/predict", "6000 x"));
  }
  gate.wait_for(1);
  EXPECT_TRUE(eventually([&] { return server.http().answering() == 4; }));
  for (int i = 0; i < 40; ++i) {
    HttpClient more(server.port());
    more.send(HttpClient::request("GET", "/v2/health/live", ""));
    const auto reply = more.reply();
    EXPECT_EQ(reply.status, 503) << "an answer, not a reset; number " << i;
    EXPECT_EQ(reply.headers.count("Retry-After"), 1U);
  }
  EXPECT_EQ(HttpClient(server.port(), kElsewhere).ask("GET", "/v2/health/live").status, 200);
  gate.open();
  for (auto& client : busy) EXPECT_EQ(client->reply().status, 200) << "nobody who is being answered makes way";
}

// The kernel would take megabytes of answers from the server for each such client.
TEST(Attack, AClientThatTakesNoAnswersGetsFewComputed) {
  std::atomic<int> answers{0};
  serving::HttpOptions http;
  http.answered = [&](const serving::AccessRecord&) { ++answers; };
  RunningServer server({}, http);
  const auto request = HttpClient::request("GET", "/page/main.js", "");
  const auto bytes = static_cast<int>(HttpClient(server.port()).ask("GET", "/page/main.js").body.size());
  ASSERT_GT(bytes, 10'000);
  const HttpClient greedy(server.port());
  std::string requests;
  for (int i = 0; i < 1'000; ++i) requests += request;
  EXPECT_TRUE(greedy.send(requests));
  EXPECT_TRUE(eventually([&] { return answers > 5; }));
  for (int before = 0; before != answers; std::this_thread::sleep_for(200ms)) before = answers;
  EXPECT_LT(answers * bytes, 600'000);
}

// Without free file descriptors the server closes an idle connection for the one that waits, or ends as usual.
TEST(Attack, RunningOutOfFileDescriptorsPasses) {
  for (const bool ends : {false, true}) {
    RunningServer server;
    EXPECT_EQ(server.ask("GET", "/v2").status, 200);
    EXPECT_TRUE(eventually([&] { return server.connections() == 0; }));
    HttpClient late(server.port());
    EXPECT_TRUE(eventually([&] { return server.connections() == 1; }));
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const int waiting = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    rlimit none = before;
    none.rlim_cur = 512;
    std::vector<int> filler;  // takes every descriptor that is free below the limit
    ::setrlimit(RLIMIT_NOFILE, &none);
    for (int one = 0; (one = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) filler.push_back(one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(server.port()));
    EXPECT_EQ(::connect(waiting, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    if (ends) {
      std::this_thread::sleep_for(120ms);  // the server tries again every 50 ms
      server.stop();
    } else {
      const timeval patience{20, 0};
      ::setsockopt(waiting, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      const auto request = HttpClient::request("GET", "/v2", "");
      ::send(waiting, request.data(), request.size(), MSG_NOSIGNAL);
      std::string status(12, '\0');
      ::recv(waiting, status.data(), status.size(), MSG_WAITALL);
      EXPECT_EQ(status, "HTTP/1.1 200");
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
    for (const int one : filler) ::close(one);
    EXPECT_EQ(late.ask("GET", "/v2").status, 0) << "it was idle, and made way";
    ::close(waiting);
  }
}

TEST(WorkLane, AddressesTakeTurns) {
  serving::WorkLane lane({1, 8, false});
  Gate gate;
  std::mutex mutex;
  std::string order;
  const auto job = [&](char letter) {
    return [&, letter] {
      const std::lock_guard lock(mutex);
      order += letter;
    };
  };
  EXPECT_TRUE(lane.submit("a", [&] { gate.pass(); }));
  gate.wait_for(1);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(lane.submit("a", job('a')));
  EXPECT_FALSE(lane.submit("a", job('x'))) << "half of the places are one address's";
  EXPECT_TRUE(lane.submit("b", job('b')));
  EXPECT_TRUE(lane.submit("c", job('c')));
  gate.open();
  lane.finish();
  EXPECT_EQ(order, "bcaaaa");
  EXPECT_FALSE(lane.submit("a", job('x')));
}

}  // namespace
}  // namespace priornet
