#include <gtest/gtest.h>
#include "tool/report/evaluation_results.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tool/report/table.h"

namespace priornet {
namespace {

EvaluationReport small_report() {
  EvaluationReport report;
  report.run = "runs/dpn";
  report.method = "dpn";
  report.checkpoint = "last";
  report.weights = "step 10";
  auto& inside = report.evaluation.inside;
  inside.name = "mnist:test";
  inside.size = 200;
  inside.errors = 5;
  inside.error = 0.025;
  const Detection detection{.auroc = {0.9, 0.85, 0.95},
                            .auroc_error = 0.025,
                            .aupr = {0.5, 0.4, 0.6},
                            .aupr_balanced = {0.8, 0.7, 0.9},
                            .average_precision = {0.45, 0.35, 0.55},
                            .fpr95 = {0.2, 0.1, 0.3},
                            .positives = 5,
                            .negatives = 195,
                            .prevalence = 0.025,
                            .replicates = 50};
  inside.misclassification = {{"max_prob", detection, 0.99}};
  inside.rejection = {{"max_prob", 0.001, 0.0005, 0.8}};
  report.evaluation.outside = {
      {"omniglot", 100, {{"max_prob", detection, 0.97}}, {"mean brightness", 0.875, true, 0, 0}}};
  return report;
}

TEST(EvaluationTables, ShowEachTaskWithIntervals) {
  const auto tables = evaluation_tables(small_report());
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0].title, "runs/dpn on mnist:test");
  EXPECT_EQ(tables[0].rows[0][2].text(), "2.50");
  EXPECT_NEAR(tables[0].rows[0][2].value(), 2.5, 1e-9);
  EXPECT_EQ(tables[1].rows[0][1].text(), "90.00 [85.00, 95.00]");
  EXPECT_NEAR(tables[1].rows[0][1].value(), 90, 1e-9);
  EXPECT_EQ(tables[1].rows[0].back().text(), "80.00");
  EXPECT_EQ(tables[2].title, "omniglot (100 inputs) against mnist:test (200)");
  EXPECT_EQ(tables[2].notes[0], "without any network, mean brightness alone tells the sets apart with AUROC 87.50 %");
}

TEST(EvaluationTables, SayWhereNothingIsMisclassified) {
  auto report = small_report();
  report.evaluation.inside.errors = 0;
  report.evaluation.inside.misclassification.clear();
  EXPECT_EQ(evaluation_tables(report)[1].notes[0], "nothing is misclassified: there is nothing to detect");
}

TEST(EvaluationTables, ShowHowItWasAsked) {
  auto report = small_report();
  report.members = 5;
  report.evaluation.scoring.dropout_samples = 20;
  report.evaluation.scoring.noise = 3;
  report.odin = {{{1000, 0.002}, 0.25, 0.95}, "mnist:validation", "uniform-noise"};
  report.against = "runs/dnn";
  report.comparison = {{"omniglot", "entropy", {.first = 0.9, .second = 0.8, .z = 2.5, .p_value = 0.0124}}};
  const auto tables = evaluation_tables(report);
  EXPECT_EQ(tables[0].notes[0],
            "dpn, last checkpoint (step 10); ensemble of 5; 20 dropout samples; noise of sigma 3 on every input");
  EXPECT_EQ(tables[0].notes[1],
            "ODIN at temperature 1000, step 0.002: chosen on mnist:validation against uniform-noise, where FPR95 is "
            "25.00 % and AUROC 95.00 %");
  EXPECT_EQ(tables[3].title, "runs/dpn less runs/dnn: AUROC");
  EXPECT_EQ(tables[3].rows[0].back().text(), "0.012");
  EXPECT_EQ(tables[3].notes.size(), 1u);
}

TEST(EvaluationTables, SayWhatCannotBeTested) {
  auto report = small_report();
  report.against = "runs/dnn";
  const double unknown = std::nan("");
  report.comparison = {{"omniglot", "entropy", {.first = 1.0, .second = 0.5, .z = unknown, .p_value = unknown}}};
  const auto table = evaluation_tables(report).back();
  const auto& row = table.rows[0];
  EXPECT_EQ(row[row.size() - 2].text(), "-");
  EXPECT_EQ(row.back().text(), "-");
  EXPECT_EQ(table.notes.back(), "p is - where the difference shows no variance and so cannot be tested");
  EXPECT_TRUE(nlohmann::json::parse(to_json(table))["rows"][0]["p"].is_null()) << to_json(table);
  EXPECT_TRUE(nlohmann::json::parse(to_json(report))["comparison"]["rows"][0]["p_value"].is_null());
}

TEST(EvaluationTables, HaveARowForMachines) {
  const auto csv = to_csv(evaluation_rows(small_report()));
  EXPECT_NE(csv.find("\nmisclassification,mnist:test,max_prob,5,195,0.9,0.85,0.95,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\ndetection,omniglot,max_prob,5,195,0.9,"), std::string::npos) << csv;
}

}  // namespace
}  // namespace priornet
