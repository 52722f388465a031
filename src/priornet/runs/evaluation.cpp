#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/matching.h>
#include <priornet/eval/calibration.h>
#include <priornet/eval/risk_coverage.h>
#include <priornet/eval/roc.h>
#include <priornet/eval/score_names.h>
#include <priornet/eval/set_comparison.h>
#include <priornet/eval/tensor_span.h>
#include <priornet/runs/evaluation.h>

#include <algorithm>

namespace priornet {

torch::Tensor labels_for(const TrainedRun& run, const Dataset& set) {
  if (!set.has_labels()) throw DataError(fmt::format("{}: has no labels to be held against", set.name));
  const auto classes = run.members.at(0)->classes();
  const auto labels = labels_among(set, run.class_names, "the run");
  const auto highest = labels.numel() == 0 ? 0 : labels.max().item<int64_t>();
  if (highest < classes) return labels;
  throw DataError(fmt::format("{}: holds label {}, the run has classes 0 to {}", set.name, highest, classes - 1));
}

namespace {

void check_features(const Dataset& inside, const Dataset& outside) {
  if (inside.feature_names.empty() || outside.feature_names.empty() || inside.feature_names == outside.feature_names)
    return;
  throw DataError(fmt::format("{}: its features should be those of {}: wanted {}; found {}", outside.name, inside.name,
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

InsideEvaluation evaluate_inside(const Dataset& set, const torch::Tensor& labels, const torch::Tensor& wrong,
                                 const SetScores& scores, const BootstrapOptions& bootstrap, Progress& progress) {
  InsideEvaluation result;
  result.name = set.name;
  result.size = set.size();
  result.errors = wrong.sum().item<int64_t>();
  result.error = static_cast<double>(result.errors) / static_cast<double>(result.size);
  result.log_likelihood = negative_log_likelihood(scores.probabilities, labels);
  result.brier = brier_score(scores.probabilities, labels);
  result.calibration_error = calibration_error(scores.probabilities, labels);
  result.adaptive_calibration_error = calibration_error(scores.probabilities, labels, Binning::kEqualCount);
  const auto errors = wrong.to(torch::kFloat64).contiguous();
  const bool has_both = result.errors > 0 && result.errors < result.size;
  const auto task = "misclassification on " + set.name;
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

OutsideEvaluation evaluate_outside(const Dataset& set, const SetScores& scores, const SetScores& inside,
                                   const BootstrapOptions& bootstrap, Progress& progress) {
  OutsideEvaluation result;
  result.name = set.name;
  result.size = set.size();
  const auto task = "detection of " + set.name;
  const auto total = static_cast<int64_t>(scores.columns.size());
  for (const auto& [measure, values] : scores.columns) {
    progress.report(task, static_cast<int64_t>(result.detection.size()), total);
    result.detection.push_back(
        detected(measure, uncertainty(measure, values), uncertainty(measure, *inside.find(measure)), bootstrap));
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
  result.inside = evaluate_inside(fitted[0], labels, result.wrong, result.inside_scores, options.bootstrap, progress);
  const std::vector<Dataset> fitted_outside(fitted.begin() + 1, fitted.end());
  const auto trivial = options.trivial.empty() ? trivial_detection(fitted[0], fitted_outside) : options.trivial;
  for (size_t s = 0; s < fitted_outside.size(); ++s) {
    result.outside.push_back(evaluate_outside(fitted_outside[s], result.outside_scores[s], result.inside_scores,
                                              options.bootstrap, progress));
    result.outside.back().trivial = trivial.at(s);
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

}  // namespace priornet
