#include <priornet/learning/load_set.h>
#include <priornet/learning/training.h>
#include <priornet/uncertainty/random.h>
#include <testing/tool.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

// Three clouds of points; those outside lie far off.
std::string cloud_rows(int64_t count, int seed, double far) {
  auto generator = make_generator(seed);
  std::string text = "x,y,kind\n";
  const char* kinds[] = {"high", "left", "right"};
  const double centres[][2] = {{0, 2}, {-2, -1}, {2, -1}};
  const auto draws = torch::randn({count, 2}, generator);
  for (int64_t i = 0; i < count; ++i)
    text += std::to_string(far + centres[i % 3][0] + draws[i][0].item<double>()) + "," +
            std::to_string(far + centres[i % 3][1] + draws[i][1].item<double>()) + "," + kinds[i % 3] + "\n";
  return text;
}

struct Clouds : InputFiles {
  std::string train_set = text("train.csv", cloud_rows(600, 1, 0)) + ",label=kind";
  std::string test_set = text("test.csv", cloud_rows(150, 2, 0)) + ",label=kind";
  std::string far_set = text("far.csv", cloud_rows(90, 3, 20)) + ",label=kind";
  std::string dpn = run("dpn", "dpn");
  std::string dnn = run("dnn", "dnn");

  std::string run(const char* name, const std::string& method) const {
    TrainConfig config;
    config.train = train_set;
    config.model.name = "mlp";
    config.model.dense = {16};
    config.model.keep_dense = 0.9;
    config.method.name = method;
    config.outside_batch = 0;
    config.epochs = 2;
    config.batch = 30;
    config.schedule.rate = 1e-2;
    NoProgress progress;
    train(config, {load_set(train_set), std::nullopt, {}}, RunFolder(*this / name, RunFolder::Start::kNew), {},
          progress);
    return (*this / name).string();
  }
};

const Clouds& clouds() {
  static const Clouds files;
  return files;
}

// The detectors of rows of numbers, fitted on the run's training set, all recognise points that lie far off.
TEST(Evaluate, ShowsEveryDetectorInOneTable) {
  const auto& files = clouds();
  const auto [status, out, err] = run_tool({"evaluate", files.dpn, "--data", files.test_set, "--ood", files.far_set,
                                            "--detectors", "all", "--replicates", "20", "--json"});
  ASSERT_EQ(status, 0) << err;
  const auto json = nlohmann::json::parse(out);
  const std::vector<std::string> wanted = {"max_logit",    "gen",
                                           "odin",         "react",
                                           "ash",          "knn",
                                           "mahalanobis",  "mahalanobis_relative",
                                           "vim",          "columns_mahalanobis",
                                           "columns_shift"};
  EXPECT_EQ(json["detectors"], wanted);
  std::map<std::string, double> auroc;
  for (const auto& row : json["out_of_distribution"][0]["detection"]) auroc[row["measure"]] = row["auroc"]["value"];
  for (const auto& name : wanted) EXPECT_TRUE(auroc.contains(name)) << name;
  for (const auto* name : {"columns_mahalanobis", "columns_shift", "entropy"}) EXPECT_TRUE(auroc.contains(name));
  EXPECT_EQ(auroc["columns_mahalanobis"], 1.0);
  EXPECT_EQ(auroc["columns_shift"], 1.0);

  // Twice the same is once.
  const auto some = run_tool({"evaluate", files.dpn, "--data", files.test_set, "--detectors", "knn", "vim", "knn"});
  EXPECT_EQ(some.status, 0) << some.err;
  EXPECT_NE(some.out.find("computed in the same pass, learnt from training inputs: knn, vim"), std::string::npos)
      << some.out;
  const auto unknown = run_tool({"evaluate", files.dpn, "--data", files.test_set, "--detectors", "knm"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("there is no detector knm"), std::string::npos) << unknown.err;
  const auto images = run_tool({"evaluate", files.dpn, "--data", files.test_set, "--detectors", "image_statistics"});
  EXPECT_EQ(images.status, 1);
  EXPECT_NE(images.err.find("it looks at images, and the network takes rows of numbers"), std::string::npos);
}

TEST(Evaluate, PrintsTablesOfEveryTask) {
  const auto& files = clouds();
  const auto [status, out, err] =
      run_tool({"evaluate", files.dpn, "--data", files.test_set, "--ood", files.far_set, "--replicates", "50"});
  ASSERT_EQ(status, 0) << err;
  for (const auto* part :
       {" on ", "adaptive ECE, points", "Misclassification on ", "PRR %", "differential_entropy", "energy",
        " (90 inputs) against ", "without any network, x alone tells the sets apart with AUROC 100.00",
        "dpn, last checkpoint (step 40 ", "AUPR %, in distribution"})
    EXPECT_NE(out.find(part), std::string::npos) << part << " is missing in\n" << out;
  EXPECT_TRUE(std::filesystem::exists(files.dpn + "/scores"));
}

TEST(Evaluate, PrintsJsonAndWritesFiles) {
  const auto& files = clouds();
  const auto csv = (files / "result.csv").string();
  const auto [status, out, err] =
      run_tool({"evaluate", files.dnn, "--data", files.test_set, "--ood", files.far_set, "--dropout-samples", "5",
                "--odin", "--replicates", "50", "--json", "--out", csv});
  ASSERT_EQ(status, 0) << err;
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["method"], "dnn");
  EXPECT_EQ(json["dropout_samples"], 5);
  EXPECT_EQ(json["in_distribution"]["set"], files.test_set);
  EXPECT_LT(json["in_distribution"]["error"], 0.5);
  const auto& far = json["out_of_distribution"][0];
  EXPECT_EQ(far["trivial_auroc"], 1);
  std::vector<std::string> measures;
  for (const auto& row : far["detection"]) measures.push_back(row["measure"]);
  EXPECT_EQ(measures, (std::vector<std::string>{"max_prob", "entropy", "expected_entropy", "mutual_information",
                                                "energy", "odin"}));
  EXPECT_EQ(json["odin"]["chosen_on"], files.train_set);
  EXPECT_EQ(json["odin"]["against"], "uniform-noise");
  const auto table = bytes_of(csv);
  EXPECT_TRUE(table.starts_with("task,set,measure,positives,negatives,auroc,auroc_low,auroc_high,")) << table;
  EXPECT_NE(table.find("\ndetection,"), std::string::npos);
}

TEST(Evaluate, GivesTheSameAgainFromKeptScores) {
  const auto& files = clouds();
  const std::vector<std::string> command{"evaluate", files.dpn,      "--data", files.test_set, "--ood", files.far_set,
                                         "--json",   "--replicates", "50"};
  const auto first = run_tool(command);
  const auto second = run_tool(command);
  ASSERT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(second.err.find("scores of"), std::string::npos) << second.err;
}

TEST(Evaluate, LeavesWhatAReportShows) {
  const auto& files = clouds();
  ASSERT_EQ(
      run_tool({"evaluate", files.dpn, "--data", files.test_set, "--ood", files.far_set, "--replicates", "50"}).status,
      0);
  const auto page = (files / "dpn.html").string();
  ASSERT_EQ(run_tool({"report", files.dpn, "--out", page}).status, 0);
  EXPECT_NE(bytes_of(page).find("\"roc\":"), std::string::npos);
  const auto tables = run_tool({"report", files.dpn, "--format", "markdown"}).out;
  EXPECT_NE(tables.find("`priornet evaluate " + files.dpn + " --ood " + files.far_set + " --data "), std::string::npos)
      << tables;
}

// For a model file, evaluate says what the model hands back: in words, as JSON, and in files beside the model file for
// the report.
TEST(Evaluate, ShowsWhatACalibratedModelHandsBack) {
  const auto& files = clouds();
  const auto model = (files / "clouds.priornet").string();
  const auto held_out = files.text("held_out.csv", cloud_rows(300, 5, 0)) + ",label=kind";
  const auto calibrated =
      run_tool({"calibrate", files.dpn, "--data", held_out, "--false-alarm", "0.1", "--out", model});
  ASSERT_EQ(calibrated.status, 0) << calibrated.err;
  expect_failure(run_tool({"report", model}), model + ": was not evaluated yet: call priornet evaluate " + model +
                                                  " --data SET --ood SET with sets that the model did not learn from");
  const std::vector<std::string> command{"evaluate", model,         "--data",       files.test_set,
                                         "--ood",    files.far_set, "--replicates", "20"};
  const auto words = run_tool(command);
  ASSERT_EQ(words.status, 0) << words.err;
  for (const auto* part : {"dpn sorts rows of 2 numbers into 3 classes: high, left, right.",
                           "Of 1000 inputs like those of test.csv it answers ", "handed back to a person. ",
                           "Promised: 10 % or less, on average", "150 test inputs are few", "One trivial statistic ",
                           "Misclassification on ", "NLL, Brier and ECE are of the probabilities before calibration"})
    EXPECT_NE(words.out.find(part), std::string::npos) << part << " is missing in\n" << words.out;

  auto as_json = command;
  as_json.emplace_back("--json");
  const auto json = nlohmann::json::parse(run_tool(as_json).out);
  const auto& summary = json["summary"];
  EXPECT_EQ(json["in_distribution"]["probabilities"], "before calibration");
  EXPECT_EQ(summary["test"]["ece_before_temperature"], json["in_distribution"]["ece"]);
  EXPECT_EQ(summary["operating_point"]["false_alarm"], 0.1);
  EXPECT_EQ(summary["test"]["errors"], json["in_distribution"]["errors"]);
  int64_t verdicts = 0, counted = 0;
  for (const auto& [name, count] : summary["test"]["verdicts"].items()) verdicts += count.get<int64_t>();
  for (const auto& row : summary["test"]["confusion"])
    for (const auto& count : row) counted += count.get<int64_t>();
  EXPECT_EQ(verdicts, 150);
  EXPECT_EQ(counted, 150);
  const auto& foreign = summary["foreign"][0];
  EXPECT_DOUBLE_EQ(foreign["handed_back"]["value"], 1 - foreign["verdicts"]["accept"].get<double>() / 90);
  // The model watches detectors of columns, which notice points far off, and the caution does not depend on
  // --detectors.
  EXPECT_EQ(json["detectors"], (std::vector<std::string>{"columns_mahalanobis", "columns_shift"}));
  EXPECT_EQ(foreign["best_auroc"], 1.0);
  EXPECT_EQ(foreign["trivial_beats_network"], false);
  EXPECT_EQ(foreign["trivial_equals_network"], true);

  // The detectors in the file are fitted already, so their training set is not read again.
  const auto watching = (files / "watching.priornet").string();
  std::filesystem::copy_file(model, watching);
  std::filesystem::rename(files / "train.csv", files / "away.csv");
  auto detected = as_json;
  detected[1] = watching;
  detected.insert(detected.end(), {"--detectors", "columns_shift", "columns_mahalanobis"});
  const auto reused = run_tool(detected);
  detected.back() = "knn";
  EXPECT_EQ(run_tool(detected).status, 1);
  std::filesystem::rename(files / "away.csv", files / "train.csv");
  ASSERT_EQ(reused.status, 0) << reused.err;
  EXPECT_EQ(nlohmann::json::parse(reused.out)["detectors"],
            (std::vector<std::string>{"columns_shift", "columns_mahalanobis"}));

  const auto page = (files / "clouds.html").string();
  ASSERT_EQ(run_tool({"report", model, "--out", page}).status, 0);
  for (const auto* part : {"\"bottom_line\":", "\"groups\":[{\"name\":\"accepted\"", "\"roc\":"})
    EXPECT_NE(bytes_of(page).find(part), std::string::npos) << part;
}

TEST(Evaluate, RecordsACommandThatGivesTheSameNumbers) {
  const auto& files = clouds();
  const auto spaced = files.text("far off.csv", cloud_rows(60, 4, 10)) + ",label=kind";
  const std::vector<std::string> asked{"--threads",
                                       "1",
                                       "evaluate",
                                       files.dpn,
                                       "--ood",
                                       files.far_set,
                                       spaced,
                                       "--data",
                                       files.test_set,
                                       "--dropout-samples",
                                       "3",
                                       "--odin",
                                       "--noise",
                                       "0.125",
                                       "--against",
                                       files.dnn,
                                       "--checkpoint",
                                       "last",
                                       "--device",
                                       "cpu",
                                       "--batch",
                                       "17",
                                       "--mu-theta-samples",
                                       "4",
                                       "--replicates",
                                       "30",
                                       "--seed",
                                       "5",
                                       "--out",
                                       (files / "all.json").string(),
                                       "--json"};
  const auto first = run_tool(asked);
  ASSERT_EQ(first.status, 0) << first.err;
  const auto results = bytes_of(files.dpn + "/evaluation/results.json");
  EXPECT_EQ(results.find('\n'), results.size() - 1);  // one line: indentation would double the file
  const auto record = nlohmann::json::parse(results);
  const auto command = words_of(record["run"]["command"]);
  ASSERT_EQ(command.front(), "priornet");
  // All options that were given, except for default values.
  for (const auto& word : asked)
    EXPECT_TRUE(word == "--checkpoint" || word == "last" ||
                std::find(command.begin(), command.end(), word) != command.end())
        << word << " is not recorded";
  std::filesystem::remove_all(files.dpn + "/scores");
  const auto again = run_tool({command.begin() + 1, command.end()});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(first.out, again.out);
}

TEST(Evaluate, ComparesTwoRuns) {
  const auto& files = clouds();
  const auto [status, out, err] = run_tool({"evaluate", files.dpn, "--data", files.test_set, "--ood", files.far_set,
                                            "--against", files.dnn, "--replicates", "50", "--json"});
  ASSERT_EQ(status, 0) << err;
  const auto comparison = nlohmann::json::parse(out)["comparison"];
  EXPECT_EQ(comparison["against"], files.dnn);
  ASSERT_EQ(comparison["rows"].size(), 6u);
  EXPECT_EQ(comparison["rows"][0]["task"], "misclassification");
  EXPECT_EQ(comparison["rows"][5]["set"], files.far_set);
}

TEST(Evaluate, FailsBeforeAnyWork) {
  const auto& files = clouds();
  const auto nowhere = (files / "nowhere").string();
  expect_failure(run_tool({"evaluate", nowhere}), nowhere + ": there is no such model file or folder of a run");
  expect_failure(run_tool({"evaluate", files.dpn}),
                 files.dpn + ": was trained on " + files.train_set +
                     ", which has no test split: give --data the set to evaluate on");
  expect_misuse(run_tool({"evaluate", files.dpn, "--out", "result.txt"}),
                "--out: result.txt should end in .json, .csv or .md (see priornet evaluate --help)");
  expect_failure(run_tool({"evaluate", files.dpn, "--checkpoint", "best"}),
                 files.dpn + ": holds no best checkpoint: it was trained without a validation set");
  const auto missing =
      run_tool({"evaluate", files.dpn, "--data", files.test_set, "--ood", files.far_set, nowhere + ".csv"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.out, "");
  EXPECT_NE(missing.err.find("nowhere.csv"), std::string::npos) << missing.err;
  EXPECT_EQ(missing.err.find("scores of"), std::string::npos) << missing.err;
}

TEST(Evaluate, TakesTheTestSplitOfTheTrainingSetUnlessToldOtherwise) {
  const auto& files = clouds();
  const auto run = files / "of_mnist";
  std::filesystem::copy(files.dnn, run, std::filesystem::copy_options::recursive);
  auto config = read_config(run / "config.toml");
  config.train = "mnist:train,first=100,invert";
  std::ofstream(run / "config.toml") << to_toml(config);
  ::setenv("PRIORNET_DATA", (files / "no_data").c_str(), 1);
  const auto [status, out, err] = run_tool({"evaluate", run.string()});
  ::unsetenv("PRIORNET_DATA");
  EXPECT_EQ(status, 1);
  EXPECT_TRUE(err.starts_with("priornet: mnist (test) is not in ")) << err;
  EXPECT_NE(err.find("priornet data get mnist gets it"), std::string::npos) << err;
}

TEST(Evaluate, IsHelpfulAboutMisuse) {
  EXPECT_EQ(run_tool({"evaluate"}).status, 2);
  for (const std::string number : {"-1", "nan", "inf"}) {
    const auto [status, out, err] = run_tool({"evaluate", "run", "--noise", number});
    EXPECT_EQ(status, 2);
    EXPECT_EQ(err, "priornet: --noise: should be a number of at least 0, found " + number +
                       " (see priornet evaluate --help)\n");
  }
  EXPECT_EQ(run_tool({"evaluate", "run", "--checkpoint", "first"}).status, 2);
  const auto help = run_tool({"evaluate", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("priornet evaluate runs/dpn --ood omniglot fashion-mnist:test --out dpn.json"),
            std::string::npos);
}

}  // namespace
}  // namespace priornet
