#include <priornet/deploy/predictor.h>
#include <priornet/deploy/thresholds.h>
#include <testing/small_models.h>
#include <testing/tool.h>

#include <torch/csrc/jit/api/module.h>

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tool/server/http_server.h"

namespace priornet {
namespace {

using Words = std::vector<std::string>;

std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// What `priornet predict` says, row by row.
std::vector<nlohmann::json> predicted(Words words) {
  words.insert(words.begin(), "predict");
  words.insert(words.end(), {"--format", "jsonl"});
  const auto said = run_tool(words);
  EXPECT_EQ(said.status, 0) << said.err;
  return lines_of(said.out);
}

nlohmann::json calibrated(Words words) {
  words.insert(words.begin(), "calibrate");
  words.push_back("--json");
  const auto said = run_tool(words);
  EXPECT_EQ(said.status, 0) << said.err;
  return nlohmann::json::parse(said.out);
}

double share_rejected(const std::vector<nlohmann::json>& rows) {
  int64_t rejected = 0;
  for (const auto& row : rows) rejected += row["verdict"] != "accept" ? 1 : 0;
  return static_cast<double>(rejected) / static_cast<double>(rows.size());
}

void expect_same_verdicts(const std::vector<nlohmann::json>& rows, const std::vector<nlohmann::json>& wanted) {
  ASSERT_EQ(rows.size(), wanted.size());
  for (size_t i = 0; i < rows.size(); ++i)
    for (const auto* key : {"prediction", "p_value", "verdict", "verdict_by"})
      EXPECT_EQ(rows[i][key], wanted[i][key]) << key << " of row " << i;
}

/// Logits of a made-up classifier of 4 classes and the input of its last layer: features with one cluster per class.
struct MadeUp {
  torch::Tensor labels;
  torch::Tensor features;  ///< float32 [N, 6]
  torch::Tensor logits;    ///< float32 [N, 4]
};
MadeUp made_up(int64_t count, uint64_t seed) {
  auto generator = make_generator(seed);
  MadeUp made;
  made.labels = torch::randint(0, 4, {count}, generator, torch::kInt64);
  made.features = torch::randn({count, 6}, generator);
  made.features.narrow(1, 0, 4).add_(3 * torch::one_hot(made.labels, 4));
  made.features.narrow(1, 4, 2).mul_(0.3);
  made.logits = 1.5 * made.features.narrow(1, 0, 4);
  return made;
}

// A model file with a network says about inputs exactly what a file without a network says about their logits, to the
// last bit of the p-value: both use the same functions.
TEST(OwnLogits, GetTheVerdictsOfTheNetworkTheyComeFrom) {
  for (const std::string method : {"dpn", "dnn"})
    for (const bool per_class : {false, true}) {
      const InputFiles files;
      auto model = small_model(method);
      model.points.reset();
      const bool dirichlet = method == "dpn";
      const auto held_out = small_images(300, 5);
      auto fresh = small_images(200, 6).inputs.clone();
      fresh.slice(0, 0, 60).copy_(255 - fresh.slice(0, 0, 60));  // some are unfamiliar
      const auto said = Predictor(model).predict(held_out.inputs);
      const auto logits = files.npy("new.npy", Predictor(model).predict(fresh).logits);
      model.points = calibrate(said, held_out.labels, watched_measures(dirichlet, false), {0.05, per_class});
      const auto wanted = Predictor(model).predict(fresh);

      const auto file = (files / "m.priornet").string();
      const auto* kind = dirichlet ? "dirichlet" : "softmax";
      Words command = {"--logits", files.npy("val.npy", said.logits),
                       "--labels", files.npy("y.npy", held_out.labels),
                       "--kind",   kind,
                       "--out",    file};
      if (per_class) command.push_back("--per-class");
      EXPECT_NEAR(calibrated(command)["temperature"].get<double>(), model.points->temperature, 1e-12);
      const auto rows = predicted({file, "--logits", logits});
      ASSERT_EQ(rows.size(), 200u);
      for (size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i]["p_value"], wanted.decisions[i].p_value) << i;
        EXPECT_EQ(rows[i]["verdict"], verdict_name(wanted.decisions[i].verdict)) << i;
        EXPECT_EQ(rows[i]["row"], i);
      }
      EXPECT_GT(share_rejected(rows), 0.0);
      // The logits can also be given as the inputs of such a model.
      expect_same_verdicts(predicted({file, logits}), rows);
      const auto exported = run_tool({"export", file, "--onnx", (files / "m.onnx").string()});
      expect_failure(exported, "m: holds no network, only thresholds for a network's logits");
    }
}

TEST(OwnLogits, KeepThePromiseOnNewInputs) {
  const InputFiles files;
  const auto held_out = made_up(1000, 1);
  const auto fresh = made_up(4000, 2);
  const auto file = (files / "m.priornet").string();
  for (const std::string method : {"softmax", "ensemble"}) {
    // Members that differ a little.
    const auto of = [&](const MadeUp& made) {
      auto generator = make_generator(7);
      return method == "softmax"
                 ? made.logits
                 : torch::stack({made.logits, made.logits + torch::randn(made.logits.sizes(), generator)});
    };
    const auto said = calibrated({"--logits", files.npy("val.npy", of(held_out)), "--labels",
                                  files.npy("y.npy", held_out.labels), "--kind", method, "--out", file});
    const auto rows = predicted({file, "--logits", files.npy("new.npy", of(fresh))});
    EXPECT_GE(share_rejected(rows), said["false_alarm_range"][0].get<double>()) << method;
    EXPECT_LE(share_rejected(rows), said["false_alarm_range"][1].get<double>()) << method;
    if (method == "softmax") continue;
    // The same as rows of inputs: member after member.
    expect_same_verdicts(predicted({file, files.npy("rows.npy", of(fresh).transpose(0, 1).flatten(1).contiguous())}),
                         rows);
    const auto one = run_tool({"predict", file, "--logits", files.npy("one.npy", fresh.logits)});
    expect_failure(one, (files / "one.npy").string() +
                            ": --kind ensemble needs [M, N, K], or one file [N, K] per member, found shape [4000, 4]");
  }
}

// The outliers have ordinary logits; only their features are strange.
TEST(OwnLogits, AreJudgedByTheirFeaturesToo) {
  const InputFiles files;
  const auto held_out = made_up(1000, 1);
  const auto fresh = made_up(4000, 2);
  auto strange = made_up(500, 3);
  strange.features.narrow(1, 4, 2).add_(8);
  const auto file = (files / "m.priornet").string();
  Words command = {"--logits",   files.npy("val.npy", held_out.logits),
                   "--features", files.npy("f.npy", held_out.features),
                   "--labels",   files.npy("y.npy", held_out.labels),
                   "--kind",     "softmax",
                   "--out",      file};
  const auto said = calibrated(command);
  EXPECT_EQ(said["calibration_size"], 500);
  const auto judged = [&](const MadeUp& made) {
    return predicted(
        {file, "--logits", files.npy("new.npy", made.logits), "--features", files.npy("g.npy", made.features)});
  };
  const auto rows = judged(fresh);
  EXPECT_GE(share_rejected(rows), said["false_alarm_range"][0].get<double>());
  EXPECT_LE(share_rejected(rows), said["false_alarm_range"][1].get<double>());
  const auto found = judged(strange);
  EXPECT_GT(share_rejected(found), 0.95);
  EXPECT_EQ(found[0]["verdict_by"], "knn");
  const auto both = torch::cat({fresh.logits, fresh.features}, 1);
  expect_same_verdicts(predicted({file, files.npy("rows.npy", both)}), rows);

  const auto without = run_tool({"predict", file, "--logits", files.npy("new.npy", fresh.logits)});
  expect_failure(without,
                 "m: has the detector knn, which cannot judge these logits: it looks at features, and there are none");
  const auto short_of_one = run_tool({"predict", file, "--logits", files.npy("new.npy", fresh.logits), "--features",
                                      files.npy("g.npy", fresh.features.narrow(0, 0, 3999).contiguous())});
  expect_failure(short_of_one, (files / "g.npy").string() + ": has features of 3999 inputs, but the logits have 4000");

  auto checked = command;
  checked.insert(checked.begin(), "calibrate");
  checked.insert(checked.end(), {"--check", files.npy("new.npy", fresh.logits)});
  expect_misuse(run_tool(checked),
                "--check: its logits have no features, and the detector knn looks at them: leave it out here, and call "
                "priornet evaluate with the model file, --ood and --ood-features (see priornet calibrate --help)");

  command.insert(command.end(), {"--watch", "mahalanobis", "gen", "mahalanobis", "--detectors", "all"});
  EXPECT_EQ(calibrated(command)["watches"].size(), 4u) << "two measures, and each detector once";
  const auto all = judged(strange);
  EXPECT_GT(share_rejected(all), 0.95);
  for (const auto* name : {"mahalanobis", "gen", "knn", "vim", "max_logit", "mahalanobis_relative"})
    EXPECT_TRUE(all[0].contains(name)) << name;
  command.back() = "react";
  command.insert(command.begin(), "calibrate");
  expect_failure(run_tool(command), "the detector react cannot be used: it needs the network, and there is none");
}

TEST(OwnLogits, AreEvaluatedAsARunIs) {
  const InputFiles files;
  const auto test = made_up(300, 4);
  const auto outside = files.npy("o.npy", torch::randn({200, 4}, make_generator(5)) - 3);
  const auto logits = files.npy("a.npy", test.logits);
  const auto labels = files.npy("y.npy", test.labels);
  const auto folder = (files / "mine").string();
  const Words plain = {"evaluate", "--logits", logits, "--labels", labels, "--kind", "softmax", "--ood", outside};
  auto words = plain;
  words.insert(words.end(), {"--report", folder, "--json"});
  const auto said = run_tool(words);
  ASSERT_EQ(said.status, 0) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  const auto wrong = test.logits.argmax(1).ne(test.labels).sum().item<int64_t>();
  EXPECT_EQ(json["in_distribution"]["errors"], wrong) << said.out;
  EXPECT_EQ(json["summary"]["description"],
            "a judges logits from another program for 4 classes: 0, 1, 2, 3. Tested on a.npy (300 inputs).");
  EXPECT_TRUE(json["summary"]["operating_point"].is_null());
  EXPECT_EQ(json["out_of_distribution"][0]["detection"].back()["measure"], "energy");
  EXPECT_NE(said.err.find("priornet report " + folder + " makes the page"), std::string::npos) << said.err;
  const auto page = run_tool({"report", folder, "--out", (files / "page.html").string()});
  EXPECT_EQ(page.status, 0) << page.err;
  auto nowhere = plain;
  nowhere.insert(nowhere.end(), {"--report", labels + "/folder"});  // below a file
  const auto refused = run_tool(nowhere);
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err.find("makes the page"), std::string::npos) << refused.err;
  const auto table = run_tool(plain);
  EXPECT_EQ(table.status, 0) << table.err;
  for (const auto* part : {"without any network", "checkpoint"})
    EXPECT_EQ(table.out.find(part), std::string::npos) << table.out;
}

TEST(OwnLogits, AreEvaluatedWithTheVerdictsOfTheirModelFile) {
  const InputFiles files;
  const auto held_out = made_up(1000, 1);
  const auto test = made_up(300, 4);
  auto strange = made_up(100, 3);
  strange.features.narrow(1, 4, 2).add_(8);
  const auto file = (files / "m.priornet").string();
  calibrated({"--logits", files.npy("val.npy", held_out.logits), "--features", files.npy("f.npy", held_out.features),
              "--kind", "softmax", "--out", file});
  const auto said =
      run_tool({"evaluate", file, "--logits", files.npy("a.npy", test.logits), "--features",
                files.npy("b.npy", test.features), "--labels", files.npy("y.npy", test.labels), "--ood",
                files.npy("o.npy", strange.logits), "--ood-features", files.npy("p.npy", strange.features), "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  const auto rows = predicted({file, "--logits", (files / "a.npy").string(), "--features", (files / "b.npy").string()});
  EXPECT_NEAR(json["summary"]["test"]["handed_back"]["value"].get<double>(), share_rejected(rows), 1e-12);
  EXPECT_GT(json["summary"]["foreign"][0]["handed_back"]["value"].get<double>(), 0.95);
  const auto& detection = json["out_of_distribution"][0]["detection"];
  EXPECT_EQ(detection.back()["measure"], "knn");
  EXPECT_GT(detection.back()["auroc"]["value"].get<double>(), 0.99);
  const auto page = run_tool({"report", file, "--out", (files / "page.html").string()});
  EXPECT_EQ(page.status, 0) << page.err;
  const auto alone = run_tool({"evaluate", file, "--data", "mnist:test"});
  expect_failure(alone, "m: holds no network, only thresholds for a network's logits");
}

// As a stream: 2,000 inputs like those of the calibration set, then a fifth of them without evidence for any class.
TEST(OwnLogits, AreWatchedForDrift) {
  const InputFiles files;
  const auto file = (files / "m.priornet").string();
  calibrated({"--logits", files.npy("val.npy", made_up(1000, 1).logits), "--kind", "softmax", "--out", file});
  const auto healthy = made_up(2000, 2).logits;
  auto later = made_up(500, 3).logits;
  later.slice(0, 0, 500, 5).fill_(-20);
  const auto watched = [&](const torch::Tensor& logits, const Words& more) {
    Words words = {
        "predict", file, "--logits", files.npy("new.npy", logits), "--drift", "--out", (files / "said.csv").string()};
    words.insert(words.end(), more.begin(), more.end());
    const auto said = run_tool(words);
    EXPECT_EQ(said.status, 0) << said.err;
    return said.err;
  };
  const auto quiet = watched(healthy, {});
  EXPECT_EQ(quiet.find("warning"), std::string::npos) << quiet;
  EXPECT_NE(quiet.find("after 2000 inputs"), std::string::npos) << quiet;
  EXPECT_NE(quiet.find("the alarm comes at 100"), std::string::npos) << quiet;
  const auto loud = watched(torch::cat({healthy, later}), {"--drift-rate", "0.001"});
  const std::string opening = "drift: by input ";
  const auto at = loud.find(opening);
  ASSERT_NE(at, std::string::npos) << loud;
  const auto input = std::stol(loud.substr(at + opening.size()));
  EXPECT_GT(input, 2000);
  EXPECT_LT(input, 2300);
  EXPECT_NE(loud.find("such an alarm is at most 0.001"), std::string::npos) << loud;
  // The same as rows of inputs, by the option's older name.
  const auto rows = run_tool({"predict", file, (files / "new.npy").string(), "--watch", "--drift-rate", "0.001",
                              "--out", (files / "said.csv").string()});
  EXPECT_NE(rows.err.find(opening + std::to_string(input) + " "), std::string::npos) << rows.err;
}

TEST(OwnLogits, GetAnErrorInTheRowsThatAreNotFinite) {
  const InputFiles files;
  const auto file = (files / "m.priornet").string();
  calibrated({"--logits", files.npy("val.npy", made_up(100, 1).logits), "--kind", "softmax", "--out", file});
  auto logits = made_up(5, 2).logits;
  const auto whole =
      lines_of(run_tool({"predict", file, "--logits", files.npy("a.npy", logits), "--format", "jsonl"}).out);
  logits[3][1] = std::numeric_limits<double>::quiet_NaN();
  const auto said = run_tool({"predict", file, "--logits", files.npy("b.npy", logits), "--format", "jsonl"});
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.err.find("1 of 5 inputs have logits that are not finite"), std::string::npos) << said.err;
  const auto rows = lines_of(said.out);
  ASSERT_EQ(rows.size(), 5u) << said.out;
  EXPECT_EQ(rows[3]["error"], "its logits are not finite");
  EXPECT_EQ(rows[4]["p_value"], whole.at(4)["p_value"]);
  EXPECT_EQ(rows[4]["row"], 4);
}

TEST(OwnLogits, AreNotGuessedAt) {
  const InputFiles files;
  const auto logits = files.npy("a.npy", torch::randn({50, 3}));
  expect_misuse(
      run_tool({"calibrate", "--logits", logits}),
      "--logits: give --kind too: what the logits are, softmax, dirichlet or ensemble (see priornet calibrate --help)");
  expect_misuse(
      run_tool({"calibrate"}),
      "give one of RUN, --logits (of your own network) or --network (its file) (see priornet calibrate --help)");
  expect_misuse(run_tool({"evaluate", "--logits", logits, "--kind", "softmax"}),
                "--logits: give --labels too: the file with their labels (see priornet evaluate --help)");
  expect_misuse(run_tool({"calibrate", "--logits", logits, "--kind", "softmax", "--dropout-samples", "3"}),
                "--dropout-samples: is for a RUN, but --logits was given instead (see priornet calibrate --help)");
  expect_failure(run_tool({"calibrate", "--logits", logits, "--kind", "ensemble"}),
                 logits + ": --kind ensemble needs [M, N, K], or one file [N, K] per member, found shape [50, 3]");
}

/// The made-up classifier as a network in a file, its features as rows of numbers and as a table.
struct NetworkFiles : InputFiles {
  NetworkFiles() {
    torch::jit::Module script("net");
    auto weight = torch::zeros({4, 6});
    weight.narrow(1, 0, 4).fill_diagonal_(1.5);
    script.register_parameter("weight", weight, false);
    script.define("def forward(self, x):\n    return torch.matmul(x, self.weight.t())\n");
    script.save(network);
  }

  std::string table(const std::string& name, const MadeUp& made) const {
    std::ostringstream lines;
    lines << std::setprecision(9) << "a,b,c,d,e,f,kind\n";
    for (int64_t i = 0; i < made.labels.size(0); ++i) {
      for (int64_t f = 0; f < 6; ++f) lines << made.features[i][f].item<float>() << ',';
      lines << "k" << made.labels[i].item<int64_t>() << '\n';
    }
    return text(name, lines.str()) + ",label=kind";
  }

  std::string network = (*this / "net.pt").string();
  std::string model = (*this / "m.priornet").string();
};

// Without training and without a run: the network's logits are judged as if they had come in a file.
TEST(NetworkFile, IsCalibratedAsItIs) {
  const NetworkFiles files;
  const auto held_out = made_up(400, 1);
  const auto fresh = made_up(300, 2);
  const auto data = files.table("val.csv", held_out);
  const auto said = calibrated(
      {"--network", files.network, "--data", data, "--kind", "softmax", "--no-detectors", "--out", files.model});
  const auto own = (files / "own.priornet").string();
  const auto of_logits = calibrated({"--logits", files.npy("val.npy", held_out.logits), "--labels",
                                     files.npy("y.npy", held_out.labels), "--kind", "softmax", "--out", own});
  EXPECT_NEAR(said["temperature"].get<double>(), of_logits["temperature"].get<double>(), 1e-6);
  const auto new_rows = files.npy("new.npy", fresh.features);
  const auto rows = predicted({files.model, new_rows, "--allow-torchscript"});
  const auto wanted = predicted({own, "--logits", files.npy("logits.npy", fresh.logits)});
  ASSERT_EQ(rows.size(), wanted.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["p_value"], wanted[i]["p_value"]) << i;
    EXPECT_EQ(rows[i]["verdict"], wanted[i]["verdict"]) << i;
    EXPECT_EQ(rows[i]["prediction"], "k" + wanted[i]["prediction"].get<std::string>()) << i;
  }
  const auto refused = run_tool({"predict", files.model, new_rows});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("give --allow-torchscript"), std::string::npos) << refused.err;
  expect_failure(run_tool({"export", files.model, "--onnx", (files / "net.onnx").string()}),
                 files.model +
                     ": holds a network that PyTorch scripted or compiled, and export writes only networks "
                     "that priornet trained: export it from PyTorch instead");
  if (!serving::has_http_server()) return;
  const auto measured = run_tool(
      {"bench", "--only", "serve", "--model", files.model, "--allow-torchscript", "--seconds", "0.001", "--json"});
  EXPECT_EQ(measured.status, 0) << measured.err;
}

// Only the last two columns are strange, and the network ignores them.
TEST(NetworkFile, HasDetectorsThatLearnFromItsTrainingSetOrFromOneHalf) {
  const NetworkFiles files;
  auto strange = made_up(200, 3);
  strange.features.narrow(1, 4, 2).add_(5.0);
  const auto fresh = made_up(2000, 2);
  const Words half = {"--network", files.network, "--data", files.table("val.csv", made_up(400, 1)),
                      "--kind",    "softmax",     "--out",  files.model};
  auto whole = half;
  whole.insert(whole.end(), {"--training", files.table("train.csv", made_up(500, 4))});
  for (const auto& words : {half, whole}) {
    const auto said = calibrated(words);
    EXPECT_EQ(said["calibration_size"], words.size() == half.size() ? 200 : 400);
    const auto rejected = [&](const torch::Tensor& features) {
      return share_rejected(predicted({files.model, files.npy("new.npy", features), "--allow-torchscript"}));
    };
    EXPECT_EQ(rejected(strange.features), 1.0);
    EXPECT_LE(rejected(fresh.features), said["false_alarm_range"][1].get<double>());
  }
}

TEST(NetworkFile, TakesOneNumberForAllChannels) {
  const InputFiles files;
  torch::jit::Module script("net");
  script.register_parameter("weight", torch::randn({3, 12}, make_generator(1)), false);
  script.define("def forward(self, x):\n    return torch.matmul(x.flatten(1), self.weight.t())\n");
  const auto network = (files / "net.pt").string();
  script.save(network);
  const auto images = files.npy(
      "images.npy", torch::randint(0, 256, {60, 3, 2, 2}, make_generator(2), torch::kInt64).to(torch::kUInt8));
  const auto with = [&](const Words& numbers) {
    Words words = {"calibrate",
                   "--network",
                   network,
                   "--data",
                   images,
                   "--kind",
                   "softmax",
                   "--no-detectors",
                   "--json",
                   "--out",
                   (files / "m.priornet").string()};
    words.insert(words.end(), numbers.begin(), numbers.end());
    return run_tool(words);
  };
  const auto one = with({"--mean", "0.5", "--deviation", "0.2"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, with({"--mean", "0.5", "0.5", "0.5", "--deviation", "0.2", "0.2", "0.2"}).out);
  EXPECT_NE(one.out, with({"--mean", "0.5", "--deviation", "0.4"}).out);
  expect_misuse(with({"--mean", "0.5", "--deviation", "0"}),
                "--deviation: should be a number above 0, found 0 (see priornet calibrate --help)");
  expect_misuse(with({"--mean", "0.5", "0.5", "--deviation", "0.2"}),
                "--mean: should be 3 numbers, one per channel of " + images +
                    ", or one number for all; found 2 (see priornet calibrate --help)");
}

TEST(NetworkFile, IsNotGuessedAt) {
  const NetworkFiles files;
  const auto data = files.table("val.csv", made_up(50, 1));
  const std::string more = " (see priornet calibrate --help)";
  expect_misuse(run_tool({"calibrate", "--network", files.network, "--kind", "softmax"}),
                "--network: give --data too: a set that the network did not learn from" + more);
  const auto refuse = [&](const Words& others, const std::string& message) {
    Words words = {"calibrate", "--network", files.network, "--data", data};
    words.insert(words.end(), others.begin(), others.end());
    expect_misuse(run_tool(words), message + more);
  };
  refuse({}, "--network: give --kind too: what the network gives, softmax or dirichlet");
  refuse({"--kind", "ensemble"}, "--kind: ensemble is for --logits; a network gives softmax or dirichlet");
  refuse({"--kind", "softmax", "--mean", "0.5"},
         "--mean: give --deviation too: the network takes (value - mean) / deviation");
  refuse({"--kind", "softmax", "--mean", "0.5", "--deviation", "0.5"},
         "--mean: is for images, and " + data + " holds rows of numbers: nothing is standardised");
  expect_misuse(
      run_tool({"calibrate", "--network", files.network, "--data", data, "--kind", "softmax", "--checkpoint", "best"}),
      "--checkpoint: is for a RUN, but --network was given instead" + more);
  auto fewer = made_up(50, 1);
  fewer.labels.clamp_max_(2);
  expect_failure(
      run_tool({"calibrate", "--network", files.network, "--data", files.table("few.csv", fewer), "--kind", "softmax"}),
      files.network + ": gives 4 classes, but " + (files / "few.csv").string() + ",label=kind" +
          " has 3: give --data a set with the network's classes");
  const auto package = files.text("net.pt2", "no package");
  const auto refused = run_tool({"calibrate", "--network", package, "--data", data, "--kind", "softmax"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("AOTInductor package"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace priornet
