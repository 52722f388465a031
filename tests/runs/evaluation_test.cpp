#include <priornet/learning/evaluation.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/curves.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <testing/silent.h>
#include <testing/throws.h>
#include <testing/trained_small_run.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tool/audit/set_comparison.h"

namespace priornet {
namespace {

EvaluationOptions quick() {
  EvaluationOptions options;
  options.bootstrap.replicates = 50;
  return options;
}

Dataset noise_set(int64_t count) {
  return {"noise",
          torch::randint(0, 256, {count, 1, 8, 8}, make_generator(3), torch::kInt64).to(torch::kUInt8),
          {},
          {},
          {}};
}

// The first labels are wrong, so that there are errors to detect.
Dataset partly_mislabelled() {
  auto set = small_images(120, 9);
  set.labels = set.labels.clone();
  set.labels.narrow(0, 0, 20).copy_((set.labels.narrow(0, 0, 20) + 1) % 3);
  return set;
}

TEST(Evaluation, HoldsWhatTheMetricsSayOfTheScores) {
  auto run = load_small_run();
  const auto inside = partly_mislabelled();
  const auto result = evaluate(run, inside, {noise_set(60)}, quick(), silent);
  const auto& scores = result.inside_scores;
  EXPECT_EQ(result.inside.name, "small");
  EXPECT_EQ(result.inside.size, 120);
  EXPECT_GE(result.inside.errors, 15);
  EXPECT_DOUBLE_EQ(result.inside.error, error_rate(scores.probabilities, inside.labels));
  EXPECT_DOUBLE_EQ(result.inside.negative_log_likelihood, negative_log_likelihood(scores.probabilities, inside.labels));
  EXPECT_DOUBLE_EQ(result.inside.brier, brier_score(scores.probabilities, inside.labels));
  EXPECT_DOUBLE_EQ(result.inside.calibration_error, calibration_error(scores.probabilities, inside.labels));
  EXPECT_DOUBLE_EQ(result.inside.adaptive_calibration_error,
                   calibration_error(scores.probabilities, inside.labels, Binning::kEqualCount));
  ASSERT_EQ(result.inside.misclassification.size(), scores.columns.size());

  // A confidence is negated first.
  const auto unsure = scores.find("max_prob")->neg();
  const auto wrong = unsure.masked_select(result.wrong);
  const auto right = unsure.masked_select(result.wrong.logical_not());
  const auto* row = find_measure(result.inside.misclassification, "max_prob");
  ASSERT_NE(row, nullptr);
  const auto wanted = roc_metrics(ScoreSets{.positive = span_of(wrong), .negative = span_of(right)});
  EXPECT_DOUBLE_EQ(row->detection.auroc.value, wanted.auroc);
  EXPECT_DOUBLE_EQ(row->detection.aupr.value, wanted.aupr);
  const auto sure_right = right.neg(), sure_wrong = wrong.neg();
  EXPECT_DOUBLE_EQ(row->aupr_negatives,
                   roc_metrics(ScoreSets{.positive = span_of(sure_right), .negative = span_of(sure_wrong)}).aupr);
  EXPECT_LE(row->detection.aupr.low, row->detection.aupr.high);
  const auto errors = result.wrong.to(torch::kFloat64);
  EXPECT_DOUBLE_EQ(result.inside.rejection[0].area, risk_coverage(span_of(unsure), span_of(errors)).area);
  EXPECT_DOUBLE_EQ(result.inside.rejection[0].prediction_rejection_ratio,
                   prediction_rejection_ratio(span_of(unsure), span_of(errors)));

  ASSERT_EQ(result.outside.size(), 1u);
  EXPECT_EQ(result.outside[0].size, 60);
  const auto* entropy = find_measure(result.outside[0].detection, "entropy");
  EXPECT_DOUBLE_EQ(entropy->detection.auroc.value,
                   roc_metrics(ScoreSets{.positive = span_of(*result.outside_scores[0].find("entropy")),
                                         .negative = span_of(*scores.find("entropy"))})
                       .auroc);
  EXPECT_GT(entropy->detection.auroc.value, 0.9);
  const auto comparison = compare_sets(inside, noise_set(60));
  EXPECT_EQ(result.outside[0].trivial.name, comparison.strongest_statistic().name);
  EXPECT_EQ(result.outside[0].trivial.auroc, comparison.trivial_auroc());
}

TEST(Evaluation, TakesTrivialDetectionThatIsKnown) {
  auto run = load_small_run();
  const auto inside = small_images(60, 9);
  auto options = quick();
  options.trivial = trivial_detection(inside, {noise_set(60)});
  ASSERT_EQ(options.trivial.size(), 1u);
  EXPECT_EQ(options.trivial[0].auroc, compare_sets(inside, noise_set(60)).trivial_auroc());
  options.trivial[0].name = "known";
  EXPECT_EQ(evaluate(run, inside, {noise_set(60)}, options, silent).outside[0].trivial.name, "known");
}

TEST(Evaluation, SaysSoWhereNothingIsMisclassified) {
  auto run = load_small_run();
  auto inside = small_images(60, 9);
  inside.labels = evaluate(run, inside, {}, quick(), silent).inside_scores.probabilities.argmax(1);
  const auto result = evaluate(run, inside, {noise_set(10)}, quick(), silent);
  EXPECT_EQ(result.inside.errors, 0);
  EXPECT_TRUE(result.inside.misclassification.empty());
  EXPECT_EQ(result.inside.rejection[0].area, 0);
  EXPECT_TRUE(std::isnan(result.inside.rejection[0].prediction_rejection_ratio));
  EXPECT_EQ(result.outside.size(), 1u);
  EvaluationReport report;
  report.evaluation = result;
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_TRUE(json["in_distribution"]["misclassification"].empty());
  EXPECT_TRUE(json["in_distribution"]["rejection"][0]["prr"].is_null());
}

TEST(Evaluation, MatchesClassesByName) {
  auto run = load_small_run();
  const auto inside = small_images(60, 9);
  auto turned = inside;
  turned.class_names = {"right", "left", "middle"};
  turned.labels = (inside.labels + 1) % 3;
  const auto wanted = evaluate(run, inside, {}, quick(), silent).inside.errors;
  EXPECT_EQ(evaluate(run, turned, {}, quick(), silent).inside.errors, wanted);
  turned.class_names[0] = "below";
  EXPECT_THROWS(DataError, evaluate(run, turned, {}, quick(), silent),
                "small: holds the class below, which the run does not have");
}

TEST(Evaluation, UsesDropoutSamplesAsAnEnsemble) {
  auto run = load_small_run("dnn");
  auto options = quick();
  options.scoring.dropout_samples = 4;
  const auto result = evaluate(run, partly_mislabelled(), {noise_set(30)}, options, silent);
  EXPECT_NE(find_measure(result.outside[0].detection, "mutual_information"), nullptr);
  EXPECT_EQ(find_measure(result.outside[0].detection, "differential_entropy"), nullptr);
}

TEST(Evaluation, RefusesSetsItCannotUse) {
  auto run = load_small_run();
  EXPECT_THROWS(DataError, evaluate(run, noise_set(5), {}, quick(), silent), "noise: has no labels to compare with");
  EXPECT_THROWS(DataError, evaluate(run, small_images(5, 1), {noise_set(0)}, quick(), silent),
                "noise: is empty: there is nothing to evaluate");
  auto set = small_images(5, 1);
  set.class_names.clear();
  set.labels = torch::full({5}, 3, torch::kInt64);
  EXPECT_THROWS(DataError, evaluate(run, set, {}, quick(), silent),
                "small: holds the label 3, but the run has classes 0 to 2");
}

TEST(CompareRuns, TestsWhatBothHave) {
  auto dpn = load_small_run();
  auto dnn = load_small_run("dnn");
  const auto inside = partly_mislabelled();
  const auto first = evaluate(dpn, inside, {noise_set(60)}, quick(), silent);
  const auto second = evaluate(dnn, inside, {noise_set(60)}, quick(), silent);
  const auto rows = compare_runs(first, second);
  ASSERT_EQ(rows.size(), 6u);  // max_prob, entropy and energy, for each task
  EXPECT_EQ(rows[0].set, "");
  EXPECT_EQ(rows[3].set, "noise");
  EXPECT_EQ(rows[4].measure, "entropy");
  EXPECT_DOUBLE_EQ(rows[4].auroc.first, find_measure(first.outside[0].detection, "entropy")->detection.auroc.value);
  EXPECT_DOUBLE_EQ(rows[4].auroc.second, find_measure(second.outside[0].detection, "entropy")->detection.auroc.value);
  EXPECT_DOUBLE_EQ(rows[0].auroc.second, second.inside.misclassification[0].detection.auroc.value);
  for (const auto& row : compare_runs(first, first)) EXPECT_EQ(row.auroc.p_value, 1) << row.measure;
  const auto fewer = evaluate(dnn, inside, {noise_set(59)}, quick(), silent);
  EXPECT_THROWS(ArgumentError, compare_runs(first, fewer),
                "compare_runs: both should have the same sets, found noise (60 rows) and noise (59 rows)");
}

}  // namespace
}  // namespace priornet
