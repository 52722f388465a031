#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/deploy/model_file.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/random.h>
#include <sys/stat.h>
#include <testing/hostile_requests.h>
#include <testing/small_models.h>
#include <testing/started_process.h>
#include <testing/tool.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

// The server as the process that users run. PRIORNET_KEEP_MODEL names a file for its model, for the test of the page.

namespace priornet {
namespace {

// A small VGG-6 of images [1, 28, 28] that learnt nothing, called made-up.
ModelFile made_up_digits() {
  ModelFile model;
  model.name = "made-up";
  auto& options = model.run.config.model;
  options.blocks = {{{4, 4}, {8, 8}}};
  options.dense = {{16}};
  model.run.config.train = "./digits.npz";
  model.run.config.method.name = "dpn";
  model.run.identity = "made up";
  for (int i = 0; i < 10; ++i) model.run.class_names.push_back(std::to_string(i));
  auto made = options;
  made.input = {1, 28, 28};
  made.classes = 10;
  model.run.members = {make_model(made, make_generator(1))};
  model.run.members[0]->eval();
  model.preprocessing.shape = {1, 28, 28};
  model.points = small_points({{Verdict::kUnfamiliar, "differential_entropy"}, {Verdict::kAmbiguous, "entropy"}});
  return model;
}

class Serve : public ::testing::Test {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& options) {
    write_model_file(model_, made_up_digits());
    if (const auto* kept = std::getenv("PRIORNET_KEEP_MODEL")) write_model_file(kept, made_up_digits());
    std::vector<std::string> words = {PRIORNET_TOOL_PATH, "--threads",          "1", "serve", model_,
                                      "--port",           std::to_string(port_)};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  void start(const std::vector<std::string>& options) { begin(command(options)); }

  void begin(const std::vector<std::string>& words) {
    process_.emplace(words, std::vector<std::string>{});
    while (process_->wait(std::chrono::milliseconds(10)) == -1) {
      try {
        HttpClient(port_).ask("GET", "/v2/health/ready");
        return;
      } catch (const std::runtime_error&) {  // not yet
      }
    }
    FAIL() << "it does not listen: " << process_->err();
  }

  // What the server wrote to standard error, without the warning to root.
  std::string complaints() {
    auto text = process_->err();
    const std::string to_root =
        "priornet: the server runs as root, which it does not need: run it as an ordinary user\n";
    EXPECT_EQ(text.starts_with(to_root), ::geteuid() == 0) << text;
    return text.starts_with(to_root) ? text.substr(to_root.size()) : text;
  }

  InputFiles files_;
  const std::string model_ = (files_ / "made-up.priornet").string();
  const int port_ = free_local_port();
  std::optional<StartedProcess> process_;
};

TEST_F(Serve, SurvivesHostileRequests) {
  ASSERT_NO_FATAL_FAILURE(start({"--client-timeout-s", "0.3"}));
  expect_survival(port_, 400);
  ::kill(process_->id(), SIGTERM);
  EXPECT_EQ(process_->wait(), 0) << process_->err();
  EXPECT_EQ(complaints(), "");
}

/// Clients that never pause. Every client whose request was accepted gets an answer.
class PatientClients {
 public:
  PatientClients(int port, int count) {
    for (int i = 0; i < count; ++i)
      clients_.emplace_back([this, port] {
        HttpClient client(port);
        const auto request = valid_image_request();
        while (true) {
          client.send(request);
          const auto reply = client.reply();
          if (reply.status != 200) {
            ++lost;
            return;
          }
          ++answered;
          if (reply.headers.contains("Connection")) return;  // close: the server is ending
        }
      });
  }
  ~PatientClients() { join(); }

  void join() {
    for (auto& client : clients_)
      if (client.joinable()) client.join();
  }
  void wait_for(int more) {
    const auto before = answered.load();
    while (answered < before + more && lost == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::atomic<int> answered{0};
  std::atomic<int> lost{0};

 private:
  std::vector<std::thread> clients_;
};

int64_t count_in(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// SIGHUP while clients ask, then SIGTERM. PRIORNET_SIGNAL_ROUNDS and PRIORNET_SIGNAL_REQUESTS ask for more of both.
TEST_F(Serve, LosesNoRequestOverSignals) {
  const auto asked_for = [](const char* name, int otherwise) {
    const auto* value = std::getenv(name);
    return value == nullptr ? otherwise : std::atoi(value);
  };
  const int rounds = asked_for("PRIORNET_SIGNAL_ROUNDS", 2);
  const int requests = asked_for("PRIORNET_SIGNAL_REQUESTS", 1000);
  const auto log = (files_ / "errors.jsonl").string();
  int64_t answered = 0;
  for (int round = 0; round < rounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(start({"--error-log", log}));
    PatientClients clients(port_, 32);
    clients.wait_for(requests / rounds / 2);
    ::kill(process_->id(), SIGHUP);
    clients.wait_for(requests / rounds / 2);
    while (count_in(bytes_of(log), "serves made-up anew") <= round && clients.lost == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::kill(process_->id(), SIGTERM);
    clients.join();
    EXPECT_EQ(process_->wait(), 0) << process_->err();
    EXPECT_EQ(clients.lost, 0);
    answered += clients.answered;
  }
  EXPECT_GE(answered, requests);
  RecordProperty("answered", static_cast<int>(answered));
}

TEST_F(Serve, ReadsItsTokenAnewOnSighupAndKeepsTheOldWhereItCannot) {
  const auto token = files_.file("token", "first\n").string();
  const auto log = (files_ / "errors.jsonl").string();
  ASSERT_NO_FATAL_FAILURE(start({"--token-file", token, "--error-log", log}));
  const auto status = [&](const std::string& word) {
    return HttpClient(port_).ask("GET", "/v2/models", "", "Authorization: Bearer " + word + "\r\n").status;
  };
  const auto hang_up = [&](const std::string& said) {
    ::kill(process_->id(), SIGHUP);
    while (process_->wait(std::chrono::milliseconds(5)) == -1 && count_in(bytes_of(log), said) == 0) {
    }
  };
  EXPECT_EQ(status("first"), 200);
  files_.file("token", "second\n");
  hang_up("serves made-up anew");
  EXPECT_EQ(status("first"), 401);
  EXPECT_EQ(status("second"), 200);
  files_.file("token", "\n");
  hang_up("nothing was changed: ");
  EXPECT_EQ(status("second"), 200);
  files_.file("token", "third\n");
  files_.file("made-up.priornet", "no model");
  hang_up("made-up.priornet");
  EXPECT_EQ(status("second"), 200);
}

// The certificate could be read, and stays the old one all the same.
TEST_F(Serve, ChangesAllOrNothingOnSighup) {
  const auto key = (files_ / "key.pem").string();
  const auto certificate = (files_ / "certificate.pem").string();
  const auto made = fmt::format(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=priornet -addext "
      "subjectAltName=IP:127.0.0.1 -keyout '{}' -out '{}' 2>/dev/null",
      key, certificate);
  if (std::system(made.c_str()) != 0) GTEST_SKIP() << "there is no openssl to make a certificate";
  const auto other = (files_ / "other.priornet").string();
  auto model = made_up_digits();
  model.name = "other";
  write_model_file(other, model);
  const auto log = (files_ / "errors.jsonl").string();
  ASSERT_NO_FATAL_FAILURE(start({other, "--tls-certificate", certificate, "--tls-key", key, "--error-log", log}));
  const auto old = files_.file("old.pem", bytes_of(certificate)).string();
  ASSERT_EQ(std::system(made.c_str()), 0);
  write_model_file(other, made_up_digits());  // two of one name
  ::kill(process_->id(), SIGHUP);
  while (process_->wait(std::chrono::milliseconds(5)) == -1 && count_in(bytes_of(log), "nothing was changed: ") == 0) {
  }
  const auto trusts = [&](const std::string& file) {
    return std::system(fmt::format("openssl s_client -connect 127.0.0.1:{} -CAfile '{}' -verify_return_error "
                                   "</dev/null >/dev/null 2>&1",
                                   port_, file)
                           .c_str()) == 0;
  };
  EXPECT_TRUE(trusts(old)) << bytes_of(log);
  EXPECT_FALSE(trusts(certificate));
}

// The program that reads the access log ends before the server.
TEST_F(Serve, OutlivesTheReaderOfItsLog) {
  const auto pipe = (files_ / "pipe").string();
  const auto errors = (files_ / "errors.jsonl").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_NO_FATAL_FAILURE(start({"--access-log", pipe, "--error-log", errors}));
  ::close(reader);
  HttpClient(port_).ask("GET", "/v2/models");
  while (process_->wait(std::chrono::milliseconds(5)) == -1 && count_in(bytes_of(errors), "Broken pipe") == 0) {
  }
  EXPECT_EQ(HttpClient(port_).ask("GET", "/v2/models").status, 200);
  ::kill(process_->id(), SIGTERM);
  EXPECT_EQ(process_->wait(), 0) << process_->err();
}

TEST_F(Serve, TakesAsManyConnectionsAsItMayOpenFiles) {
  auto words = command({"--max-connections", "5000"});
  const auto limited = [&](const std::string& limit) {
    auto all = words;
    all.insert(all.begin(), {"/bin/sh", "-c", limit + R"(; exec "$@")", "sh"});
    return all;
  };
  ASSERT_NO_FATAL_FAILURE(begin(limited("ulimit -Sn 200; ulimit -Hn 300")));
  EXPECT_NE(
      process_->err().find("priornet: --max-connections 5000 needs 5320 open files, and this process may open 300 "
                           "(ulimit -n): the server takes 177 connections\n"),
      std::string::npos)
      << process_->err();
  process_.reset();
  words = command({"--max-connections", "200"});
  ASSERT_NO_FATAL_FAILURE(begin(limited("ulimit -Sn 200")));
  EXPECT_EQ(complaints(), "") << "it raised the limit";
}

TEST_F(Serve, LogsWhatWasAsked) {
  const auto log = (files_ / "access.jsonl").string();
  ASSERT_NO_FATAL_FAILURE(start({"--access-log", log}));
  HttpClient(port_).ask("GET", "/v2/models?x=%0a");
  HttpClient(port_).ask("POST", "/predict", "no image");
  ::kill(process_->id(), SIGTERM);
  EXPECT_EQ(process_->wait(), 0) << process_->err();
  std::istringstream lines(bytes_of(log));
  std::map<std::string, nlohmann::json> found;
  for (std::string line; std::getline(lines, line);) {
    const auto record = nlohmann::json::parse(line);
    found[record["target"]] = record;
  }
  EXPECT_EQ(found["/v2/models?x=%0a"]["status"], 200);
  EXPECT_EQ(found["/v2/models?x=%0a"]["client"], "127.0.0.1");
  EXPECT_EQ(found["/predict"]["status"], 400);
  EXPECT_EQ(found["/predict"]["received"], 8);
  EXPECT_GT(found["/predict"]["ms"], 0);
}

TEST_F(Serve, RefusesToBeWeakWithoutBeingTold) {
  const auto said = [&](const std::vector<std::string>& options, const std::vector<std::string>& variables = {}) {
    process_.emplace(command(options), variables);
    EXPECT_EQ(process_->wait(), 2) << process_->err();
    return process_->err();
  };
  EXPECT_NE(said({"--host", "0.0.0.0"}).find("without a token and TLS, anyone who can reach the server can use it"),
            std::string::npos);
  EXPECT_NE(said({"--host", "0.0.0.0"}, {"PRIORNET_TOKEN=s3cret"}).find("give --tls-certificate and --tls-key, or"),
            std::string::npos);
  EXPECT_NE(said({}, {"PRIORNET_TOKEN="}).find("PRIORNET_TOKEN is set and empty"), std::string::npos);
  ASSERT_NO_FATAL_FAILURE(start({"--host", "0.0.0.0", "--insecure"}));
  EXPECT_NE(process_->err().find("priornet: the server is open to other machines, at 0.0.0.0: without a token and TLS"),
            std::string::npos);
}

}  // namespace
}  // namespace priornet
