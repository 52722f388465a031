#include <priornet/learning/evaluation.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/curves.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "uncertainty/core/checks.h"

namespace priornet {

torch::Tensor labels_for(const TrainedRun& run, const Dataset& set) {
  if (!set.has_labels()) throw DataError(fmt::format("{}: has no labels to compare with", set.name));
  const auto classes = run.members.at(0)->classes();
  const auto labels = labels_among(set, run.class_names, "the run");
  const auto highest = labels.numel() == 0 ? 0 : labels.max().item<int64_t>();
  if (highest < classes) return labels;
  throw DataError(
      fmt::format("{}: holds the label {}, but the run has classes 0 to {}", set.name, highest, classes - 1));
}

namespace {

void check_features(const Dataset& inside, const Dataset& outside) {
  if (inside.feature_names.empty() || outside.feature_names.empty() || inside.feature_names == outside.feature_names)
    return;
  throw DataError(fmt::format("{}: should have the features of {}: wanted {}; found {}", outside.name, inside.name,
                              fmt::join(inside.feature_names, ", "), fmt::join(outside.feature_names, ", ")));
}

MeasureDetection detected(const std::string& measure, const torch::Tensor& positive, const torch::Tensor& negative,
                          const BootstrapOptions& bootstrap) {
  MeasureDetection result{measure, detect({span_of(positive), span_of(negative)}, bootstrap), 0};
  const auto sure_negative = negative.neg();
  const auto sure_positive = positive.neg();
  result.aupr_negatives =
      roc_metrics(ScoreSets{.positive = span_of(sure_negative), .negative = span_of(sure_positive)}).aupr;
  return result;
}

InsideEvaluation evaluate_inside(const std::string& name, const torch::Tensor& labels, const torch::Tensor& wrong,
                                 const SetScores& scores, const BootstrapOptions& bootstrap, Progress& progress) {
  InsideEvaluation result;
  result.name = name;
  result.size = scores.probabilities.size(0);
  result.errors = wrong.sum().item<int64_t>();
  result.error = static_cast<double>(result.errors) / static_cast<double>(result.size);
  result.negative_log_likelihood = negative_log_likelihood(scores.probabilities, labels);
  result.brier = brier_score(scores.probabilities, labels);
  result.calibration_error = calibration_error(scores.probabilities, labels);
  result.adaptive_calibration_error = calibration_error(scores.probabilities, labels, Binning::kEqualCount);
  const auto errors = wrong.to(torch::kFloat64).contiguous();
  const bool has_both = result.errors > 0 && result.errors < result.size;
  const auto task = "misclassification on " + name;
  const auto total = static_cast<int64_t>(scores.columns.size());
  for (const auto& [measure, values] : scores.columns) {
    progress.report(task, static_cast<int64_t>(result.rejection.size()), total);
    const auto score = uncertainty(measure, values);
    const auto curve = risk_coverage(span_of(score), span_of(errors));
    result.rejection.push_back(
        {measure, curve.area, curve.excess, prediction_rejection_ratio(span_of(score), span_of(errors))});
    if (has_both)
      result.misclassification.push_back(
          detected(measure, score.masked_select(wrong), score.masked_select(wrong.logical_not()), bootstrap));
  }
  progress.report(task, total, total);
  return result;
}

OutsideEvaluation evaluate_outside(const std::string& name, const SetScores& scores, const SetScores& inside,
                                   const BootstrapOptions& bootstrap, Progress& progress) {
  OutsideEvaluation result;
  result.name = name;
  result.size = scores.probabilities.size(0);
  const auto task = "detection of " + name;
  const auto total = static_cast<int64_t>(scores.columns.size());
  for (const auto& [measure, values] : scores.columns) {
    progress.report(task, static_cast<int64_t>(result.detection.size()), total);
    const auto* of_inside = inside.find(measure);
    if (of_inside == nullptr)
      throw ArgumentError(
          fmt::format("{}: has the column {}, which the in-distribution set has not: both should be "
                      "scored by the same networks",
                      name, measure));
    result.detection.push_back(
        detected(measure, uncertainty(measure, values), uncertainty(measure, *of_inside), bootstrap));
  }
  progress.report(task, total, total);
  return result;
}

}  // namespace

torch::Tensor uncertainty(std::string_view measure, const torch::Tensor& values) {
  return is_confidence(measure) ? values.neg() : values.contiguous();
}

Evaluation evaluate(TrainedRun& run, const Dataset& inside, const std::vector<Dataset>& outside,
                    const EvaluationOptions& options, Progress& progress) {
  const torch::NoGradGuard no_gradient;
  const auto labels = labels_for(run, inside);
  std::vector<Dataset> fitted{fit_to_run(inside, run)};
  for (const auto& set : outside) {
    fitted.push_back(fit_to_run(set, run));
    check_features(fitted[0], fitted.back());
    fitted.back().feature_names = fitted[0].feature_names;
  }
  for (const auto& set : fitted)
    if (set.size() == 0) throw DataError(fmt::format("{}: is empty: there is nothing to evaluate", set.name));

  Evaluation result;
  result.scoring = options.scoring;
  result.inside_scores = cached_score(run, fitted[0], options.scoring, options.cache, progress);
  result.wrong = result.inside_scores.probabilities.argmax(1) != labels;
  for (size_t s = 1; s < fitted.size(); ++s)
    result.outside_scores.push_back(cached_score(run, fitted[s], options.scoring, options.cache, progress));
  result.inside =
      evaluate_inside(fitted[0].name, labels, result.wrong, result.inside_scores, options.bootstrap, progress);
  const std::vector<Dataset> fitted_outside(fitted.begin() + 1, fitted.end());
  const auto trivial = options.trivial.empty() ? trivial_detection(fitted[0], fitted_outside) : options.trivial;
  for (size_t s = 0; s < fitted_outside.size(); ++s) {
    result.outside.push_back(evaluate_outside(fitted_outside[s].name, result.outside_scores[s], result.inside_scores,
                                              options.bootstrap, progress));
    result.outside.back().trivial = trivial.at(s);
  }
  return result;
}

Evaluation evaluate_scores(const ScoredSet& inside, const torch::Tensor& labels, const std::vector<ScoredSet>& outside,
                           const BootstrapOptions& bootstrap, Progress& progress) {
  check_labels("evaluate_scores", "labels", labels, inside.scores.probabilities.size(0),
               inside.scores.probabilities.size(1));
  Evaluation result;
  result.inside_scores = inside.scores;
  result.wrong = inside.scores.probabilities.argmax(1) != labels;
  result.inside = evaluate_inside(inside.name, labels, result.wrong, inside.scores, bootstrap, progress);
  for (const auto& set : outside) {
    result.outside_scores.push_back(set.scores);
    result.outside.push_back(evaluate_outside(set.name, set.scores, inside.scores, bootstrap, progress));
    result.outside.back().trivial.auroc = std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

std::vector<StatisticAuroc> trivial_detection(const Dataset& inside, const std::vector<Dataset>& outside) {
  std::vector<StatisticAuroc> best;
  if (outside.empty()) return best;
  const auto statistics = input_statistics(inside);
  for (const auto& set : outside) best.push_back(strongest(statistic_aurocs(statistics, input_statistics(set))));
  return best;
}

const MeasureDetection* find_measure(const std::vector<MeasureDetection>& rows, std::string_view measure) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.measure == measure; });
  return found == rows.end() ? nullptr : &*found;
}

namespace {

void check_same(const std::string& first, int64_t first_size, const std::string& second, int64_t second_size) {
  if (first != second || first_size != second_size)
    throw ArgumentError(fmt::format("compare_runs: both should have the same sets, found {} ({} rows) and {} ({} rows)",
                                    first, first_size, second, second_size));
}

// Calls visit(measure, scores of first, scores of second), high if uncertain, for each measure that both have.
template <class Visit>
void for_each_shared(const SetScores& first, const SetScores& second, const Visit& visit) {
  for (const auto& [name, values] : first.columns)
    if (const auto* other = second.find(name)) visit(name, uncertainty(name, values), uncertainty(name, *other));
}

void compare_misclassification(const Evaluation& first, const Evaluation& second, std::vector<ComparedMeasure>& rows) {
  const auto marks = [](const Evaluation& evaluation) { return evaluation.wrong.to(torch::kUInt8).contiguous(); };
  const auto of_first = marks(first);
  const auto of_second = marks(second);
  for (const auto* evaluation : {&first, &second})
    if (evaluation->inside.errors < 2 || evaluation->inside.errors > evaluation->inside.size - 2) return;
  const auto span_of_marks = [](const torch::Tensor& wrong) {
    return std::span<const uint8_t>(wrong.data_ptr<uint8_t>(), static_cast<size_t>(wrong.numel()));
  };
  for_each_shared(first.inside_scores, second.inside_scores, [&](const auto& measure, const auto& a, const auto& b) {
    rows.push_back(
        {"", measure, delong_paired({span_of(a), span_of_marks(of_first)}, {span_of(b), span_of_marks(of_second)})});
  });
}

}  // namespace

std::vector<ComparedMeasure> compare_runs(const Evaluation& first, const Evaluation& second) {
  check_same(first.inside.name, first.inside.size, second.inside.name, second.inside.size);
  if (first.outside.size() != second.outside.size())
    throw ArgumentError(fmt::format("compare_runs: both should have the same sets, found {} and {} out of distribution",
                                    first.outside.size(), second.outside.size()));
  std::vector<ComparedMeasure> rows;
  compare_misclassification(first, second, rows);
  for (size_t s = 0; s < first.outside.size(); ++s) {
    const auto& name = first.outside[s].name;
    check_same(name, first.outside[s].size, second.outside[s].name, second.outside[s].size);
    if (first.inside.size < 2 || first.outside[s].size < 2) continue;
    for_each_shared(
        first.outside_scores[s], second.outside_scores[s], [&](const auto& measure, const auto& a, const auto& b) {
          const auto *first_inside = first.inside_scores.find(measure),
                     *second_inside = second.inside_scores.find(measure);
          if (first_inside == nullptr || second_inside == nullptr) return;
          const auto inside_a = uncertainty(measure, *first_inside), inside_b = uncertainty(measure, *second_inside);
          rows.push_back(
              {name, measure,
               delong_paired(PairedScores{{span_of(a), span_of(inside_a)}, {span_of(b), span_of(inside_b)}})});
        });
  }
  return rows;
}

namespace {

using Json = nlohmann::ordered_json;

Json as_json(const std::vector<MeasureDetection>& rows) {
  auto json = Json::array();
  for (const auto& [measure, d, aupr_negatives] : rows)
    json.push_back({{"measure", measure},
                    {"positives", d.positives},
                    {"negatives", d.negatives},
                    {"replicates", d.replicates},
                    {"auroc", estimate_json(d.auroc)},
                    {"auroc_std_err", number_json(d.auroc_error)},
                    {"aupr", estimate_json(d.aupr)},
                    {"aupr_balanced", estimate_json(d.aupr_balanced)},
                    {"average_precision", estimate_json(d.average_precision)},
                    {"fpr95", estimate_json(d.fpr95)},
                    {"aupr_negatives", number_json(aupr_negatives)}});
  return json;
}

Json as_json(const InsideEvaluation& inside) {
  Json json = {{"set", inside.name},
               {"size", inside.size},
               {"errors", inside.errors},
               {"error", inside.error},
               {"nll", number_json(inside.negative_log_likelihood)},
               {"brier", number_json(inside.brier)},
               {"ece", number_json(inside.calibration_error)},
               {"adaptive_ece", number_json(inside.adaptive_calibration_error)},
               {"misclassification", as_json(inside.misclassification)},
               {"rejection", Json::array()}};
  for (const auto& row : inside.rejection)
    json["rejection"].push_back({{"measure", row.measure},
                                 {"aurc", number_json(row.area)},
                                 {"e_aurc", number_json(row.excess)},
                                 {"prr", number_json(row.prediction_rejection_ratio)}});
  return json;
}

Json as_json(const OutsideEvaluation& outside) {
  return {{"set", outside.name},
          {"size", outside.size},
          {"trivial_statistic", outside.trivial.name},
          {"trivial_auroc", outside.trivial.auroc},
          {"detection", as_json(outside.detection)}};
}

Json as_json(const ComparedMeasure& row) {
  const auto& a = row.auroc;
  return {{"task", row.set.empty() ? "misclassification" : "detection"},
          {"set", row.set.empty() ? Json(nullptr) : Json(row.set)},
          {"measure", row.measure},
          {"auroc", a.first},
          {"auroc_against", a.second},
          {"difference", a.first - a.second},
          {"std_err", number_json(std::sqrt(a.difference_variance))},
          {"z", number_json(a.z)},
          {"p_value", number_json(a.p_value)}};
}

}  // namespace

std::string to_json(const EvaluationReport& report) {
  const auto& scoring = report.evaluation.scoring;
  Json json = {{"run", report.run},
               {"method", report.method},
               {"members", report.members},
               {"checkpoint", report.checkpoint},
               {"weights", report.weights},
               {"dropout_samples", scoring.dropout_samples},
               {"noise", scoring.noise},
               {"seed", scoring.seed},
               {"in_distribution", as_json(report.evaluation.inside)},
               {"out_of_distribution", Json::array()}};
  for (const auto& set : report.evaluation.outside) json["out_of_distribution"].push_back(as_json(set));
  for (const auto& one : scoring.detectors) json["detectors"].push_back(one.name);
  if (report.odin)
    json["odin"] = {{"temperature", report.odin->choice.settings.temperature},
                    {"step", report.odin->choice.settings.step},
                    {"chosen_on", report.odin->inside},
                    {"against", report.odin->outside},
                    {"validation_fpr95", report.odin->choice.fpr95},
                    {"validation_auroc", report.odin->choice.auroc}};
  if (!report.against.empty()) {
    json["comparison"] = {{"against", report.against}, {"rows", Json::array()}};
    for (const auto& row : report.comparison) json["comparison"]["rows"].push_back(as_json(row));
  }
  return json_text(json, 2) + "\n";
}

}  // namespace priornet
