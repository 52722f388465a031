#include <fcntl.h>
#include <priornet/learning/detector.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>
#include <sys/stat.h>
#include <testing/fixtures.h>
#include <testing/running_server.h>
#include <testing/small_models.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tool/server/http_messages.h"
#include "tool/server/monitoring.h"
#include "tool/server/served_model.h"

namespace priornet {
namespace {

using nlohmann::json;

std::string infer_body(int first, const std::string& rest = "") {
  return R"({"inputs":[{"name":"input","datatype":"UINT8","shape":[1,1,2,2],"data":[)" + std::to_string(first) +
         ",9,0,0]}]" + rest + "}";
}

std::string error_of(const HttpReply& reply) { return json::parse(reply.body).at("error"); }

TEST(InferenceServer, SpeaksTheOpenInferenceProtocol) {
  const RunningServer server;
  EXPECT_EQ(json::parse(server.ask("GET", "/v2").body)["extensions"], json({"binary_tensor_data", "classification"}));
  EXPECT_EQ(server.ask("GET", "/v2/health/live").status, 200);
  EXPECT_EQ(server.ask("GET", "/v2/health/ready").status, 200);
  EXPECT_EQ(json::parse(server.ask("GET", "/v2/models").body)["models"], json({"made-up", "table"}));
  const auto metadata = json::parse(server.ask("GET", "/v2/models/made-up").body);
  EXPECT_EQ(metadata["inputs"][0], json::parse(R"({"name":"input","datatype":"UINT8","shape":[-1,1,2,2]})"));
  EXPECT_EQ(metadata["parameters"]["class_names"], json({"ant", "bee", "cat"}));
  EXPECT_EQ(metadata["parameters"]["watches"][1]["cause"], "unfamiliar");
  EXPECT_EQ(json::parse(server.ask("GET", "/v2/models/made-up/versions/1/ready").body)["ready"], true);
  const auto answer = json::parse(server.ask("POST", "/v2/models/made-up/infer", infer_body(4)).body);
  EXPECT_EQ(answer["model_name"], "made-up");
  EXPECT_EQ(answer["outputs"][0]["data"], json({1}));
  EXPECT_EQ(answer["outputs"][3]["name"], "alphas");
  EXPECT_EQ(answer["outputs"][7]["data"], json({"accept"}));
  EXPECT_EQ(answer["outputs"][8]["name"], "verdict_by");
  EXPECT_EQ(answer["outputs"][8]["data"], json({""}));
}

TEST(InferenceServer, SaysWhatEveryMeasureIs) {
  const RunningServer server;
  const auto table = json::parse(server.ask("GET", "/v2/models/made-up").body)["parameters"]["measure_table"];
  ASSERT_GT(table.size(), measure_table().size());
  for (size_t m = 0; m < measure_table().size(); ++m) {
    EXPECT_EQ(table[m]["name"], measure_table()[m].name);
    EXPECT_EQ(table[m]["label"], measure_table()[m].label);
    EXPECT_FALSE(table[m]["label"].get<std::string>().empty()) << table[m]["name"];
    EXPECT_EQ(table[m]["cause"], name_of(measure_table()[m].cause));
    EXPECT_EQ(table[m]["softmax_cause"], name_of(measure_table()[m].softmax_cause));
    EXPECT_FALSE(table[m].contains("detector"));
  }
  for (size_t d = measure_table().size(); d < table.size(); ++d) {
    const auto* detector = find_detector(table[d]["name"].get<std::string>());
    ASSERT_NE(detector, nullptr) << table[d];
    EXPECT_EQ(table[d]["label"], detector->label);
    EXPECT_EQ(table[d]["detector"], true);
  }
}

TEST(InferenceServer, AnswersPeopleInWords) {
  const RunningServer server;
  const auto image = json::parse(server.ask("POST", "/predict", std::string("\2\11\377\0", 4)).body);
  EXPECT_EQ(image["prediction"], "cat");
  EXPECT_EQ(image["verdict"], "unfamiliar");
  EXPECT_EQ(image["words"],
            "Unfamiliar: the input is not like those that the model learnt from. Its mutual information is 0.637, "
            "above the limit of 0.25.");
  const auto form = std::string("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"i\"\r\n\r\n\1\11") +
                    '\xa0' + std::string("\0\r\n--b--\r\n", 10);
  const auto ambiguous = json::parse(
      server.ask("POST", "/predict?model=made-up", form, "Content-Type: Multipart/Form-Data; boundary=b\r\n").body);
  EXPECT_EQ(ambiguous["verdict"], "ambiguous") << ambiguous;
  EXPECT_TRUE(ambiguous["words"].get<std::string>().starts_with("Ambiguous: it could be bee or ant.")) << ambiguous;
  const auto row =
      json::parse(server.ask("POST", "/predict?model=table", R"({"features":{"height":3,"width":-1}})").body);
  EXPECT_EQ(row["prediction"], "above");
  EXPECT_EQ(json::parse(server.ask("POST", "/predict?model=table", R"({"features":[-3,1]})").body)["prediction"],
            "below");
}

// Many inputs without evidence for any class: each is rarer than all 1,000 calibration inputs.
TEST(InferenceServer, RaisesAnAlarmWhenInputsStopLookingLikeTheCalibrationSet) {
  auto model = small_logits_model();
  model.points =
      operating_points({{Verdict::kUnfamiliar, "energy", torch::linspace(-3, 0, 1000, torch::kFloat64)}}, 0.05);
  const RunningServer server({serving::served_model(std::make_shared<Predictor>(std::move(model)))}, {}, {});
  const auto ask = [&] {
    return json::parse(server.ask("POST", "/predict", R"({"features":[-30,-30,0.1,0.2,0.3]})").body);
  };
  const auto metric = [&](const std::string& name) {
    const auto text = server.ask("GET", "/metrics").body;
    const auto line = "\n" + name + "{model=\"elsewhere\"} ";
    const auto at = text.find(line);
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + line.size()));
  };
  EXPECT_EQ(metric("priornet_drift_value"), 1.0);
  const auto first = ask();
  EXPECT_EQ(first["verdict"], "unfamiliar") << first;
  EXPECT_EQ(first["drift"]["inputs"], 1);
  EXPECT_EQ(first["drift"]["alarm_value"], 100.0);
  EXPECT_EQ(first["drift"]["alarm_input"], 0);
  EXPECT_EQ(metric("priornet_drift_alarm"), 0.0);
  auto last = first;
  for (int i = 0; i < 40; ++i) last = ask();
  const auto alarm = last["drift"]["alarm_input"].get<int64_t>();
  EXPECT_GT(alarm, 1);
  EXPECT_LT(alarm, 40);
  EXPECT_GE(metric("priornet_drift_value"), 100.0);
  EXPECT_EQ(metric("priornet_drift_alarm"), static_cast<double>(alarm));
}

TEST(InferenceServer, TellsAValueFromTheLimitItIsAbove) {
  const auto model = made_up_model();
  auto answers = model.answer(std::string("\1\11\377\0", 4), 1);
  answers.scores[1][0] = 0.25003;
  EXPECT_EQ(serving::verdict_in_words(model.description, answers, 0),
            "Unfamiliar: the input is not like those that the model learnt from. Its mutual information is 0.25003, "
            "above the limit of 0.25.");
}

TEST(InferenceServer, TellsTheLimitOfThePredictedClass) {
  auto model = made_up_model();
  auto answers = model.answer(std::string("\1\11\377\0", 4), 1);
  auto& thresholds = model.description.watches[1].class_thresholds;
  thresholds.assign(model.description.class_names.size(), 9.0);
  thresholds.at(static_cast<size_t>(answers.prediction[0])) = 0.5;
  EXPECT_NE(serving::verdict_in_words(model.description, answers, 0).find("above the limit of 0.5."),
            std::string::npos);
  const auto metadata = json::parse(serving::metadata_json(model.description));
  EXPECT_EQ(metadata["parameters"]["watches"][1]["class_thresholds"], json(thresholds));
  EXPECT_FALSE(metadata["parameters"]["watches"][0].contains("class_thresholds"));
}

TEST(InferenceServer, CallsAMeasureByItsLabel) {
  auto model = made_up_model();
  model.description.measures = {"entropy", "mutual_information_y_theta"};
  model.description.watches[1].measure = "mutual_information_y_theta";
  auto answers = model.answer(std::string("\1\11\377\0", 4), 1);
  answers.decisions[0].watch = "mutual_information_y_theta";
  EXPECT_EQ(serving::verdict_in_words(model.description, answers, 0),
            "Unfamiliar: the input is not like those that the model learnt from. Its M.I. of class and model is "
            "0.637, above the limit of 0.25.");
}

TEST(InferenceServer, QuotesTheDetectorThatSpoke) {
  auto model = made_up_model();
  model.description.measures = {"entropy", "knn"};
  model.description.watches[1].measure = "knn";
  auto answers = model.answer(std::string("\1\11\377\0", 4), 1);
  answers.decisions[0].watch = "knn";
  EXPECT_EQ(serving::verdict_in_words(model.description, answers, 0),
            "Unfamiliar: the input is not like those that the model learnt from. The detector \"Nearest neighbours\" "
            "gives it 0.637, above the limit of 0.25.");
  const auto answer = json::parse(serving::plain_answer(model, answers, 0));
  EXPECT_EQ(answer["verdict_by"], "knn");
  EXPECT_NEAR(answer["knn"].get<double>(), 0.6375, 1e-9);
}

TEST(InferenceServer, AnswersEachOfSeveralRowsAsItAnswersOne) {
  const auto model = made_up_model();
  const auto answers = model.answer(std::string("\1\11\0\0\2\11\377\0", 8), 2);
  const auto several = json::parse(serving::plain_answers(model, answers, {{}, {"a note"}}));
  ASSERT_EQ(several["predictions"].size(), 2U);
  for (int64_t row = 0; row < 2; ++row) {
    const auto one = json::parse(serving::plain_answer(model, answers, row));
    const auto& found = several["predictions"][static_cast<size_t>(row)];
    for (const auto* key : {"prediction", "words", "probabilities", "alphas"}) EXPECT_EQ(found[key], one[key]) << key;
    EXPECT_EQ(found["alphas"].size(), several["class_names"].size());
  }
  EXPECT_EQ(several["predictions"][1]["notes"], json({"a note"}));
}

TEST(InferenceServer, RefusesWithAReason) {
  const RunningServer server;
  const auto expect = [&](int status, const std::string& reason, const HttpReply& reply) {
    EXPECT_EQ(reply.status, status);
    EXPECT_EQ(error_of(reply), reason);
  };
  expect(404, "there is nothing at /etc/passwd", server.ask("GET", "/etc/passwd"));
  expect(404, "there is nothing at /page/../main.js", server.ask("GET", "/page/%2e%2e/main.js"));
  expect(404, "there is no model 'made-upp': did you mean made-up?", server.ask("GET", "/v2/models/made-upp"));
  expect(404, "the model made-up has only version 1, found 2", server.ask("GET", "/v2/models/made-up/versions/2"));
  expect(405, "/predict takes POST, found GET", server.ask("GET", "/predict"));
  EXPECT_EQ(server.ask("GET", "/predict").headers.at("Allow"), "POST");
  EXPECT_EQ(server.ask("POST", "/v2", "{}").headers.at("Allow"), "GET, HEAD");
  expect(400, "the image: should have 4 bytes", server.ask("POST", "/predict", "12345"));
  expect(400, "the body is empty", server.ask("POST", "/predict"));
  expect(400, "the body should be JSON, but it is not JSON at byte 1",
         server.ask("POST", "/v2/models/made-up/infer", "x"));
  expect(400, "the feature 'width' is missing",
         server.ask("POST", "/predict?model=table", R"({"features":{"height":3,"w":-1}})"));
  expect(400, "the target of the request is malformed", server.ask("GET", "/%zz"));
  expect(500, "the model failed: a row that no model takes", server.ask("POST", "/predict", "abc\xff"));
  EXPECT_EQ(server.ask("POST", "/predict", "abcd").status, 200) << "still alive";
}

// Otherwise the thread that answers last would destroy the model and wait for its own end.
TEST(InferenceServer, AnswersWhatItTookBeforeItEnds) {
  std::atomic<bool> answers = false, answered = false;
  {
    serving::InferenceServer server({made_up_model()}, {});
    serving::Request request{"POST", "/v2/models/made-up/infer", {}, {{"host", "localhost"}}, infer_body(4), "here"};
    server.handler().answer(std::move(request), [&](const serving::Response& response) {
      answers = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      answered = response.status == 200;
    });
    while (!answers) std::this_thread::yield();
  }
  EXPECT_TRUE(answered);
}

TEST(InferenceServer, RefusesModelsItCannotName) {
  using serving::InferenceServer;
  EXPECT_THROWS(ArgumentError, InferenceServer({}, {}), "a server should have a model");
  EXPECT_THROWS(ArgumentError, InferenceServer({made_up_model(), made_up_model()}, {}),
                "two models have the name made-up");
  EXPECT_THROWS(ArgumentError, InferenceServer({made_up_model("a/b")}, {}),
                "the name of a model should not be empty and should have no slash, found 'a/b'");
}

TEST(InferenceServer, KnowsUnderWhichNameItIsAsked) {
  serving::ServerOptions options;
  options.allowed_hosts = {"models.example.org", "*.inside.example"};
  const RunningServer server(options);
  const auto status = [&](const std::string& host, const std::string& origin = "", const char* path = "/v2/models") {
    HttpClient client(server.port());
    client.send(std::string("GET ") + path + " HTTP/1.1\r\nHost: " + host + "\r\n" +
                (origin.empty() ? "" : "Origin: " + origin + "\r\n") + "\r\n");
    return client.reply().status;
  };
  for (const auto* host : {"localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080", "10.1.2.3",
                           "models.example.org", "Models.Example.org:443", "a.b.inside.example"})
    EXPECT_EQ(status(host), 200) << host;
  for (const auto* host : {"attacker.example", "inside.example", "localhost.attacker.example", "notinside.example",
                           "127.0.0.1.attacker.example", "1.2.3.4.5"})
    EXPECT_EQ(status(host), 421) << host;
  EXPECT_EQ(status("attacker.example", "", "/v2/health/live"), 200) << "who asks whether it lives";
  EXPECT_EQ(status("localhost:8080", "http://localhost:8080"), 200) << "its own page";
  EXPECT_EQ(status("localhost:8080", "https://models.example.org"), 200) << "a page of a name that is allowed";
  for (const auto* origin : {"http://attacker.example", "http://localhost:3000", "null", "http://"})
    EXPECT_EQ(status("localhost:8080", origin), 403) << origin;
  EXPECT_EQ(error_of(server.ask("GET", "/v2", "", "Origin: http://attacker.example\r\n")),
            "a page of 'http://attacker.example' may not use this server: --allow-host allows it");
}

TEST(InferenceServer, TellsTheLogWhatIsNoClientsBusiness) {
  auto model = made_up_model();
  model.answer = [](const std::string& inputs, int64_t) -> PlainPredictions {
    if (inputs[0] == 'm') throw std::bad_alloc();
    if (inputs[0] == 'g') TORCH_CHECK(false, "CUDA out of memory. Tried to allocate 2 MiB");
    TORCH_CHECK(inputs[0] == 'e', "mat1 and mat2 shapes cannot be multiplied");
    throw Error("its logits are not finite");
  };
  std::vector<std::string> logged;
  std::mutex mutex;
  serving::ServerOptions options;
  options.failed = [&](const serving::ServerFailure& failure) {
    const std::lock_guard lock(mutex);
    logged.push_back(std::to_string(failure.status) + " " + failure.request.path + " " + failure.reason);
  };
  const RunningServer server({model}, options, {});
  const auto of_libtorch = server.ask("POST", "/predict", "torc");
  EXPECT_EQ(of_libtorch.status, 500);
  EXPECT_EQ(error_of(of_libtorch), "the model failed; the server's log says why");
  EXPECT_EQ(error_of(server.ask("POST", "/predict", "erro")), "the model failed: its logits are not finite");
  for (const auto* body : {"memo", "gpu!"}) {
    const auto reply = server.ask("POST", "/predict", body);
    EXPECT_EQ(reply.status, 503) << body;
    EXPECT_EQ(reply.headers.at("Retry-After"), "1");
    EXPECT_EQ(error_of(reply), "the server has no memory left for this request");
  }
  ASSERT_EQ(logged.size(), 4U);
  EXPECT_TRUE(logged[0].starts_with("500 /predict mat1 and mat2 shapes cannot be multiplied")) << logged[0];
}

TEST(InferenceServer, ReplacesItsModelsAndToken) {
  RunningServer server;
  EXPECT_EQ(server.ask("GET", "/v2/models/made-up").status, 200);
  server.server().replace({made_up_model("newer")}, "s3cret");
  server.server().sweep();
  EXPECT_EQ(server.ask("GET", "/v2/models/newer").status, 401);
  const std::string token = "Authorization: Bearer s3cret\r\n";
  EXPECT_EQ(server.ask("GET", "/v2/models/newer", "", token).status, 200);
  EXPECT_EQ(server.ask("GET", "/v2/models/made-up", "", token).status, 404);
  EXPECT_THROWS(ArgumentError, server.server().replace({}, ""), "a server should have a model");
  EXPECT_EQ(server.ask("POST", "/predict", "abcd", token).status, 200) << "as it was";
}

// Clients ask while models are replaced all the time.
TEST(InferenceServer, LosesNothingWhileItReplacesModels) {
  RunningServer server;
  std::atomic<bool> over{false};
  std::atomic<int> answered{0}, lost{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&] {
      HttpClient client(server.port());
      while (!over) ++(client.ask("POST", "/predict", "abcd").status == 200 ? answered : lost);
    });
  for (int i = 0; i < 50; ++i) {
    const auto before = answered.load();
    server.server().replace({made_up_model()}, "");
    while (answered < before + 20 && lost == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server.server().sweep();
  }
  over = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(lost, 0);
  EXPECT_GE(answered, 1000);
}

TEST(ServerLog, WritesOneLineOfJsonEach) {
  const TemporaryFolder folder;
  const auto path = folder / "log";
  {
    serving::ServerLog log(path);
    log.write({{"target", "/a\nb\x1b[31m\xff"}, {"status", 200}});
    std::filesystem::rename(path, folder / "older");
    log.reopen();
    while (!std::filesystem::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    log.write({{"status", 503}});
  }
  const auto older = bytes_of(folder / "older");
  EXPECT_EQ(std::count(older.begin(), older.end(), '\n'), 1) << older;
  EXPECT_EQ(older.find('\x1b'), std::string::npos) << older;
  EXPECT_EQ(json::parse(older)["status"], 200);
  EXPECT_EQ(json::parse(older)["time"].get<std::string>().size(), 24U) << older;
  EXPECT_EQ(json::parse(bytes_of(path))["status"], 503);
  EXPECT_THROW(serving::ServerLog(folder / "no" / "folder"), DataError);
}

/// What a log said of its own troubles.
class Troubles {
 public:
  serving::ServerLog::Trouble listener() {
    return [this](const std::string& what) {
      const std::lock_guard lock(mutex_);
      said_.push_back(what);
    };
  }
  /// The one that was said then, as long as a busy machine may take.
  std::string at(size_t index) {
    for (int i = 0; i < 2000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (index < said_.size()) return said_[index];
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return "nothing";
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return said_.size();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> said_;
};

TEST(ServerLog, KeepsItsFileWhereItCannotOpenANewOne) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "logs");
  Troubles troubles;
  {
    serving::ServerLog log(folder / "logs" / "log", troubles.listener());
    std::filesystem::rename(folder / "logs", folder / "older");
    log.reopen();
    EXPECT_EQ(troubles.at(0), (folder / "logs" / "log").string() +
                                  ": cannot be opened again, lines go to the old file: No such file or directory");
    log.write({{"status", 200}});
  }
  EXPECT_EQ(json::parse(bytes_of(folder / "older" / "log"))["status"], 200);
}

TEST(ServerLog, CountsWhatItCouldNotWrite) {
  std::signal(SIGPIPE, SIG_IGN);
  const TemporaryFolder folder;
  const auto path = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  Troubles troubles;
  serving::ServerLog log(path, troubles.listener());
  ::close(reader);
  log.write({{"line", 1}});
  EXPECT_EQ(troubles.at(0), path + ": cannot be written, and lines are lost: Broken pipe");
  reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  log.write({{"line", 2}});
  EXPECT_EQ(troubles.at(1), path + ": can be written again; 1 line was lost");
  std::string text(4096, '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(reader, text.data(), text.size()))));
  ::close(reader);
  std::istringstream lines(text);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line)) << text;
  EXPECT_EQ(json::parse(line)["line"], 2);
  ASSERT_TRUE(std::getline(lines, line)) << text;
  EXPECT_EQ(json::parse(line)["error"], "1 line was lost");
  EXPECT_EQ(troubles.count(), 2U);
}

// Otherwise a program that does not read would keep the server from ending.
TEST(ServerLog, EndsThoughNobodyReads) {
  const TemporaryFolder folder;
  const auto path = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  {
    serving::ServerLog log(path);
    for (int i = 0; i < 1000; ++i) log.write({{"long", std::string(1000, 'x')}});
  }
  ::close(reader);
}

TEST(InferenceServer, WantsItsToken) {
  serving::ServerOptions options;
  options.token = "s3cret";
  const RunningServer server(options);
  const auto refused = server.ask("POST", "/v2/models/made-up/infer", infer_body(4));
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.headers.at("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(server.ask("GET", "/metrics").status, 401);
  EXPECT_EQ(server.ask("GET", "/v2/models", "", "Authorization: Bearer s3cre\r\n").status, 401);
  EXPECT_EQ(server.ask("GET", "/v2/models", "", "Authorization: Bearer s3crets3cret\r\n").status, 401);
  EXPECT_EQ(server.ask("GET", "/v2/models", "", "Authorization: bearer s3cret\r\n").status, 200);
  EXPECT_EQ(server.ask("GET", "/").status, 200) << "the page asks for it";
  EXPECT_EQ(server.ask("GET", "/v2/health/live").status, 200);
}

TEST(InferenceServer, ReadsTokensFromFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(serving::read_token(folder.file("t", "abc\r\nrest")), "abc");
  const auto empty = folder.file("e", "\n");
  EXPECT_THROWS(DataError, serving::read_token(empty),
                (empty.string() + ": should hold a token in its first line, which is empty").c_str());
}

TEST(InferenceServer, CountsForPrometheus) {
  const RunningServer server;
  server.ask("POST", "/predict", std::string("\2\11\377\0", 4));
  server.ask("GET", "/nothing/with/a/name/of/its/own");
  const auto metrics = server.ask("GET", "/metrics").body;
  const auto has = [&](const char* line) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
  };
  has("priornet_requests_total{path=\"/predict\",status=\"200\"} 1\n");
  has("priornet_requests_total{path=\"other\",status=\"404\"} 1\n");
  has("priornet_verdicts_total{model=\"made-up\",verdict=\"unfamiliar\"} 1\n");
  has("priornet_batch_size_bucket{model=\"made-up\",le=\"1\"} 1\n");
  has("priornet_request_seconds_count{path=\"/predict\"} 1\n");
  has("priornet_queue_inputs{model=\"table\"} 0\n");
  has("process_resident_memory_bytes ");
}

// If the sum were rounded, its rate would be 0 or jump.
TEST(InferenceServer, CountsEveryInputHoweverManyThereWere) {
  serving::ServerMetrics metrics;
  metrics.batch("m", 123'456'789);
  metrics.batch("m", 2);
  EXPECT_NE(metrics.text({}).find("priornet_batch_size_sum{model=\"m\"} 123456791\n"), std::string::npos)
      << metrics.text({});
}

TEST(InferenceServer, ShowsItsPageAndNothingElse) {
  const RunningServer server;
  const auto page = server.ask("GET", "/");
  EXPECT_EQ(page.headers.at("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.headers.at("Content-Security-Policy").find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(server.ask("GET", "/page/main.js").headers.at("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(server.ask("GET", "/page/style.css").status, 200);
  EXPECT_EQ(server.ask("HEAD", "/page/style.css", "", "Connection: close\r\n").status, 0) << "a length, and no body";
}

}  // namespace
}  // namespace priornet
