#include <priornet/uncertainty/errors.h>
#include <testing/running_server.h>
#include <testing/throws.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

namespace priornet {
namespace {

using namespace std::chrono_literals;

std::string error_text(const HttpReply& reply) {
  return reply.body.empty() ? "no answer" : nlohmann::json::parse(reply.body).at("error").get<std::string>();
}

const std::string kImage = "abcd";

TEST(HttpServer, KeepsConnectionsOpen) {
  const RunningServer server;
  HttpClient client(server.port());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.ask("POST", "/predict", kImage).status, 200);
  client.send(HttpClient::request("GET", "/v2", "") + HttpClient::request("GET", "/v2/models", ""));
  EXPECT_EQ(client.reply().status, 200);
  EXPECT_NE(client.reply().body.find("made-up"), std::string::npos) << "requests that came together";
}

TEST(HttpServer, RefusesWhatIsNoHttp) {
  const RunningServer server;
  HttpClient client(server.port());
  client.send("hello there\r\n\r\n");
  const auto reply = client.reply();
  EXPECT_EQ(reply.status, 400);
  EXPECT_TRUE(error_text(reply).starts_with("the request is not HTTP")) << reply.body;
}

// A proxy that reads such headers in another way would take a part of one request for another one.
TEST(HttpServer, RefusesBodiesWhoseEndIsUnclear) {
  const RunningServer server;
  const auto expect_refused = [&](const std::string& headers) {
    HttpClient client(server.port());
    client.send("POST /predict HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n4\r\nabcd\r\n0\r\n\r\n" +
                HttpClient::request("GET", "/v2", ""));
    const auto reply = client.reply();
    EXPECT_EQ(reply.status, 400) << headers;
    EXPECT_EQ(reply.headers.at("Connection"), "close") << headers;
    EXPECT_EQ(client.reply().status, 0) << headers << "nothing after it is a request";
  };
  for (const std::string coding :
       {"xchunked", "identity", "chunked, identity", "identity, chunked", "gzip, chunked", "chunked;q=1", "\"chunked\"",
        "\x0b"
        "chunked",
        "chunked,", "chunked, chunked", "gzip"}) {
    expect_refused("Transfer-Encoding: " + coding + "\r\n");
    expect_refused("Transfer-Encoding: " + coding + "\r\nContent-Length: 4\r\n");
  }
  expect_refused("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n");
  expect_refused("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n");
  expect_refused("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n");
  HttpClient client(server.port());
  client.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: CHUNKED\r\n\r\n4\r\nabcd\r\n0\r\n\r\n");
  EXPECT_EQ(client.reply().status, 200);
}

TEST(HttpServer, WantsToKnowWhichHostIsMeant) {
  const RunningServer server;
  const auto status = [&](const std::string& request) {
    HttpClient client(server.port());
    client.send(request + "\r\n");
    return client.reply().status;
  };
  EXPECT_EQ(status("GET /v2 HTTP/1.1\r\n"), 400);
  EXPECT_EQ(status("GET /v2 HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n"), 400);
  EXPECT_EQ(status("GET /v2 HTTP/1.0\r\n"), 200) << "which had no such header";
  EXPECT_EQ(status("GET http://localhost:8080/v2/models?a=b HTTP/1.1\r\nHost: attacker.example\r\n"), 200);
  EXPECT_EQ(status("GET HTTP://LOCALHOST HTTP/1.1\r\nHost: localhost\r\n"), 200);
  EXPECT_EQ(status("GET http://localhost?a=b HTTP/1.1\r\nHost: localhost\r\n"), 200);
  EXPECT_EQ(status("GET http://attacker.example/v2 HTTP/1.1\r\nHost: localhost\r\n"), 421) << "the target counts";
  EXPECT_EQ(status("GET http:///v2 HTTP/1.1\r\nHost: localhost\r\n"), 400);
  EXPECT_EQ(status("GET http://localhost@attacker.example/v2 HTTP/1.1\r\nHost: localhost\r\n"), 400);
}

TEST(HttpServer, SaysToGoOnOnlyToThoseWhoUnderstandIt) {
  const RunningServer server;
  for (const auto& [version, status] : {std::pair("1.1", 100), std::pair("1.0", 200)}) {
    HttpClient client(server.port());
    client.send("POST /predict HTTP/" + std::string(version) +
                "\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n" + kImage);
    EXPECT_EQ(client.reply().status, status) << version;
  }
}

TEST(HttpServer, RefusesLargeBodiesBeforeTheyCome) {
  serving::HttpOptions http;
  http.max_body = 1000;
  const RunningServer server({}, http);
  HttpClient client(server.port());
  client.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n");
  const auto reply = client.reply();
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(error_text(reply), "the body should have at most 1000 bytes");
  HttpClient chunked(server.port());
  chunked.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" +
               std::string(0x800, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.reply().status, 413);
  HttpClient huge(server.port());
  huge.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n");
  EXPECT_EQ(huge.reply().status, 400);
}

TEST(HttpServer, AnswersThoughTheClientStillSends) {
  serving::HttpOptions http;
  http.max_body = 1000;
  const RunningServer server({}, http);
  HttpClient client(server.port());
  client.send(HttpClient::request("POST", "/predict", std::string(1 << 20, 'x')));
  EXPECT_EQ(client.reply().status, 413);
}

TEST(HttpServer, RefusesLargeHeaders) {
  const RunningServer server;
  HttpClient client(server.port());
  client.send("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x'));
  EXPECT_EQ(client.reply().status, 431);
}

TEST(HttpServer, DoesNotWaitForSlowClients) {
  serving::HttpOptions http;
  http.timeout = 200ms;
  http.idle = 100ms;
  const RunningServer server({}, http);
  HttpClient slow(server.port());
  std::atomic<bool> over{false};
  std::thread drip([&] {  // each byte comes in time, the whole request does not
    slow.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
    while (!over && slow.send("x")) std::this_thread::sleep_for(20ms);
  });
  const auto reply = slow.reply();
  over = true;
  drip.join();
  EXPECT_EQ(reply.status, 408);
  EXPECT_EQ(error_text(reply), "the request did not arrive completely in time");
  HttpClient idle(server.port());
  EXPECT_EQ(idle.reply().status, 0) << "closed without a word";
}

TEST(HttpServer, SaysWhereItCannotListen) {
  const RunningServer server;
  serving::HttpOptions http;
  http.port = static_cast<uint16_t>(server.port());
  EXPECT_THROWS(Error, serving::HttpServer(http, {}),
                ("127.0.0.1:" + std::to_string(server.port()) + ": cannot listen: Address already in use").c_str());
  http.host = "example";
  EXPECT_THROWS(Error, serving::HttpServer(http, {}), "the host should be an IP address or localhost, found example");
}

// Clients ask a slow model without a pause. Every client whose request was accepted gets an answer.
TEST(HttpServer, DropsNoRequestItTookWhenItEnds) {
  auto model = made_up_model();
  model.answer = [answer = model.answer](const std::string& inputs, int64_t rows) {
    std::this_thread::sleep_for(5ms);
    return answer(inputs, rows);
  };
  RunningServer server({model}, {}, {});
  std::atomic<int> answered{0};
  std::atomic<int> dropped{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i)
    clients.emplace_back([&] {
      HttpClient client(server.port());
      while (true) {
        const auto reply = client.ask("POST", "/predict", kImage);
        if (reply.status != 200) {
          ++dropped;
          return;
        }
        ++answered;
        if (reply.headers.contains("Connection")) return;  // close: the server is ending
      }
    });
  while (answered < 100 && dropped == 0) std::this_thread::sleep_for(1ms);
  server.stop();
  for (auto& client : clients) client.join();
  EXPECT_EQ(dropped, 0);
  EXPECT_THROW(HttpClient(server.port()), std::runtime_error) << "nobody listens";
}

TEST(HttpServer, SaysThatItIsNotReadyWhileItEnds) {
  RunningServer server;
  HttpClient client(server.port());
  EXPECT_EQ(client.ask("GET", "/v2/health/ready").status, 200);
  server.server().shut_down();
  EXPECT_EQ(client.ask("GET", "/v2/health/ready").status, 503);
}

}  // namespace
}  // namespace priornet
