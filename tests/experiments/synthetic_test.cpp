#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <nlohmann/json.hpp>

#include "tool/experiments/synthetic.h"
#include "tool/experiments/synthetic_figures.h"

namespace priornet {
namespace {

SyntheticOptions brief() {
  SyntheticOptions options;
  options.points = 3000;
  options.epochs = 4;
  options.test_points = 500;
  options.grid = 20;
  return options;
}

/// results.json without what tells one run from the next.
std::string lasting_json(const SyntheticOptions& options) {
  NoProgress progress;
  const auto text = to_json({run_synthetic(options, progress)}, describe_run());
  EXPECT_EQ(text.find('\n'), text.size() - 1);  // one line: indentation would double the file
  auto json = nlohmann::json::parse(text);
  json.erase("run");
  return json.dump();
}

class CountingProgress final : public Progress {
 public:
  void report(std::string_view, int64_t done, int64_t total) override { finished += done == total; }
  int finished = 0;
};

TEST(Synthetic, GivesFiniteResultsOfTheRightShape) {
  CountingProgress progress;
  const auto result = run_synthetic(brief(), progress);
  EXPECT_EQ(progress.finished, 4);  // two networks at two sigmas
  ASSERT_EQ(result.cases.size(), 2u);
  for (const auto& entry : result.cases) {
    EXPECT_EQ(entry.posterior_entropy_map.sizes(), (std::vector<int64_t>{20, 20}));
    for (const auto* model : {&entry.dnn, &entry.dpn}) {
      EXPECT_GT(model->accuracy, 0.5) << model->name;
      EXPECT_TRUE(model->entropy_map.isfinite().all().item<bool>());
      EXPECT_TRUE(model->mutual_information_map.isfinite().all().item<bool>());
      EXPECT_TRUE(model->differential_entropy_map.isfinite().all().item<bool>());
      for (const auto& separation : {model->entropy, model->mutual_information, model->differential_entropy}) {
        EXPECT_LE(0.0, separation.low);
        EXPECT_LE(separation.low, separation.auroc);
        EXPECT_LE(separation.auroc, separation.high);
        EXPECT_LE(separation.high, 1.0);
      }
    }
  }
}

TEST(Synthetic, LeavesMapsForTheReport) {
  NoProgress progress;
  auto options = brief();
  options.epochs = 1;
  const auto json = nlohmann::json::parse(maps_json(run_synthetic(options, progress)));
  ASSERT_EQ(json["cases"].size(), 2u);
  for (const auto& entry : json["cases"]) {
    EXPECT_EQ(entry["means"].size(), 3u);
    EXPECT_EQ(entry["points"].size(), 240u);
    ASSERT_EQ(entry["maps"].size(), 6u);
    for (const auto& map : entry["maps"]) {
      EXPECT_EQ(map["values"].get<std::string>().size(), 96u * 96 * 4 / 3);
      EXPECT_LT(map["low"], map["high"]);
    }
  }
  EXPECT_EQ(json["cases"][0]["maps"][2]["low"], json["cases"][1]["maps"][2]["low"]) << "one scale per measure";
}

// Even a tenth of the training shows the paper's effect: where classes overlap, differential entropy still separates,
// and the entropy of the DNN points the wrong way.
TEST(Synthetic, ShowsThePapersEffect) {
  NoProgress progress;
  auto options = brief();
  options.sigmas = {4.0};
  options.points = 15000;
  const auto result = run_synthetic(options, progress);
  const auto& overlapping = result.cases.front();
  EXPECT_GT(overlapping.dpn.differential_entropy.auroc, 0.97);
  EXPECT_GT(overlapping.dpn.differential_entropy.auroc, overlapping.dpn.entropy.auroc);
  EXPECT_LT(overlapping.dnn.entropy.auroc, 0.5);
}

TEST(Synthetic, RepeatsItselfForOneSeedOnly) {
  auto options = brief();
  options.sigmas = {1.0};
  const auto first = lasting_json(options);
  EXPECT_EQ(first, lasting_json(options));
  options.seed = 2;
  EXPECT_NE(first, lasting_json(options));
}

TEST(SyntheticTables, GiveMeansAndDeviationsOverSeeds) {
  SyntheticResult first, second;
  first.cases.resize(1);
  first.cases[0].dnn.name = "DNN";
  first.cases[0].dpn.name = "DPN";
  first.cases[0].dpn.entropy = {0.8, 0.7, 0.9};
  first.cases[0].dpn.accuracy = 0.5;
  second = first;
  second.cases[0].dpn.entropy.auroc = 0.9;
  second.cases[0].dpn.accuracy = 0.6;
  EXPECT_EQ(detection_table({first}).rows[1][2].text(), "0.8000 ± 0.1000");
  EXPECT_EQ(detection_table({first, second}).rows[1][2].text(), "0.8500 ± 0.0707");
  EXPECT_EQ(detection_table({first}).rows[0][3].text(), "* 0.0000 ± 0.0000");
  EXPECT_EQ(accuracy_table({first, second}).rows[0][4].text(), "55.00");
}

TEST(Synthetic, RejectsOptionsThatMakeNoSense) {
  NoProgress progress;
  auto options = brief();
  options.epochs = 0;
  EXPECT_THROWS(ArgumentError, run_synthetic(options, progress), "run_synthetic: epochs should be at least 1, found 0");
  options = brief();
  options.alpha0 = 3;
  EXPECT_THROWS(ArgumentError, run_synthetic(options, progress), "run_synthetic: alpha0 should be above 3, found 3");
}

}  // namespace
}  // namespace priornet
