#include <fmt/format.h>
#include <priornet/deploy/model_file.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/random.h>
#include <testing/hostile_requests.h>
#include <testing/small_models.h>
#include <testing/started_process.h>
#include <testing/tool.h>

#include <atomic>

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
  void start(const std::vector<std::string>& options) {
    const auto model = (files_ / "made-up.priornet").string();
    write_model_file(model, made_up_digits());
    if (const auto* kept = std::getenv("PRIORNET_KEEP_MODEL")) write_model_file(kept, made_up_digits());
    std::vector<std::string> command = {PRIORNET_TOOL_PATH, "--threads",          "1", "serve", model,
                                        "--port",           std::to_string(port_)};
    command.insert(command.end(), options.begin(), options.end());
    process_.emplace(command, std::vector<std::string>{});
    while (process_->wait(std::chrono::milliseconds(10)) == -1) {
      try {
        HttpClient(port_).ask("GET", "/v2/health/ready");
        return;
      } catch (const std::runtime_error&) {  // not yet
      }
    }
    FAIL() << "it does not listen: " << process_->err();
  }

  InputFiles files_;
  const int port_ = free_local_port();
  std::optional<StartedProcess> process_;
};

TEST_F(Serve, SurvivesHostileRequests) {
  ASSERT_NO_FATAL_FAILURE(start({"--client-timeout-s", "0.3"}));
  expect_survival(port_, 400);
  ::kill(process_->id(), SIGTERM);
  EXPECT_EQ(process_->wait(), 0) << process_->err();
  EXPECT_EQ(process_->err(), "");
}

// Clients that never pause: whoever's request was taken gets an answer.
TEST_F(Serve, DropsNoRequestItTookOnSigterm) {
  ASSERT_NO_FATAL_FAILURE(start({}));
  const auto request = valid_image_request();
  std::atomic<int> answered{0};
  std::atomic<int> dropped{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 32; ++i)
    clients.emplace_back([&] {
      HttpClient client(port_);
      while (true) {
        client.send(request);
        const auto reply = client.reply();
        if (reply.status != 200) {
          ++dropped;
          return;
        }
        ++answered;
        if (reply.headers.contains("Connection")) return;  // close: the server is ending
      }
    });
  while (answered < 500 && dropped == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(process_->id(), SIGTERM);
  for (auto& client : clients) client.join();
  EXPECT_EQ(process_->wait(), 0) << process_->err();
  EXPECT_EQ(dropped, 0);
  RecordProperty("answered", answered);
}

}  // namespace
}  // namespace priornet
