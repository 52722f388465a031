#include "tool/report/evaluation_curves.h"
#include <testing/silent.h>
#include <testing/trained_small_run.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

/// Bars with a few wrong labels, and noise.
Evaluation drawn_evaluation(TrainedRun& run) {
  auto inside = small_images(120, 9);
  inside.labels = inside.labels.clone();
  inside.labels.narrow(0, 0, 20).copy_((inside.labels.narrow(0, 0, 20) + 1) % 3);
  const Dataset noise{
      "noise", torch::randint(0, 256, {60, 1, 8, 8}, make_generator(3), torch::kInt64).to(torch::kUInt8), {}, {}, {}};
  EvaluationOptions options;
  options.bootstrap.replicates = 20;
  return evaluate(run, inside, {noise}, options, silent);
}

TEST(EvaluationCurves, DrawEveryMeasureOfAModel) {
  auto run = load_small_run();
  const auto evaluation = drawn_evaluation(run);
  const auto json =
      nlohmann::json::parse(curves_json({7, "bars", {"noise"}}, {{"DPN", 0.0, small_run(), &evaluation}}));
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["sets"], nlohmann::json::array({"bars", "noise"}));
  const auto& model = json["models"][0];
  EXPECT_EQ(model["measures"].size(), evaluation.inside_scores.columns.size() - 1) << "all but precision";
  int64_t rows = 0;
  for (const auto& bin : model["reliability"]) rows += bin["rows"].get<int64_t>();
  EXPECT_EQ(rows, 120);
  EXPECT_EQ(model["training"].size(), 3u);
  EXPECT_EQ(model["training"][0]["epoch"], 1);
  for (const auto& measure : model["measures"]) {
    ASSERT_EQ(measure["tasks"].size(), 2u);
    for (const auto& task : measure["tasks"]) {
      EXPECT_EQ(task["roc"][0].back(), 1.0);
      EXPECT_LE(task["pr"][0].size(), 200u);
    }
    const auto& histograms = measure["histograms"];
    ASSERT_EQ(histograms["sets"].size(), 2u);
    EXPECT_EQ(histograms["sets"][0].size(), 60u);
    int64_t count = 0;
    for (const auto& bin : histograms["wrong"]) count += bin.get<int64_t>();
    EXPECT_EQ(count, evaluation.inside.errors);
    EXPECT_NEAR(measure["risk"]["points"][1].back().get<double>(), evaluation.inside.error, 1e-3);
    for (const auto& row : evaluation.inside.rejection)
      if (measure["measure"] == row.measure) EXPECT_DOUBLE_EQ(measure["risk"]["aurc"], row.area);
  }
}

TEST(EvaluationCurves, HaveNoTaskWhereNothingIsMisclassified) {
  auto run = load_small_run();
  auto evaluation = drawn_evaluation(run);
  evaluation.inside.misclassification.clear();
  const auto json =
      nlohmann::json::parse(curves_json({7, "bars", {"noise"}}, {{"DPN", 0.0, "no/such/run", &evaluation}}));
  EXPECT_TRUE(json["models"][0]["measures"][0]["tasks"][0].is_null());
  EXPECT_TRUE(json["models"][0]["training"].empty());
}

TEST(EvaluationCurves, LeaveOutALineThatTheTrainingDidNotFinish) {
  auto run = load_small_run();
  const auto evaluation = drawn_evaluation(run);
  const TemporaryFolder cut;
  const auto metrics = cut.file("metrics.jsonl", bytes_of(small_run() / "metrics.jsonl") + R"({"epoch": 4, "lo)");
  const auto json =
      nlohmann::json::parse(curves_json({7, "bars", {"noise"}}, {{"DPN", 0.0, metrics.parent_path(), &evaluation}}));
  EXPECT_EQ(json["models"][0]["training"].size(), 3u);
}

}  // namespace
}  // namespace priornet
