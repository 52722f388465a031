#include "tool/report/evaluation_curves.h"

#include <fmt/format.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/curves.h>
#include <priornet/uncertainty/detection.h>

#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "learning/training/metric_files.h"
#include "tool/report/table.h"

namespace priornet {
namespace {

using CurveJson = nlohmann::ordered_json;

constexpr int64_t kReliabilityBins = 15;
constexpr size_t kEpochs = 200;

CurveJson points_json(const Curve& curve) {
  return CurveJson::array({short_numbers(curve.x, 4), short_numbers(curve.y, 4)});
}

}  // namespace

// Risk is small, so it is thinned on a scale on which the largest is 1.
CurveJson risk_json(const torch::Tensor& score, const torch::Tensor& wrong) {
  const auto errors = wrong.to(torch::kFloat64).contiguous();
  const auto whole = risk_coverage(span_of(score), span_of(errors));
  const double largest = *std::max_element(whole.risk.begin(), whole.risk.end());
  const double scale = largest > 0 ? largest : 1.0;
  Curve curve{whole.coverage, whole.risk};
  for (auto& risk : curve.y) risk /= scale;
  curve = thinned(curve, {.points = 200, .tolerance = 2e-3});
  for (auto& risk : curve.y) risk *= scale;
  // The page rounds it to as many decimals as the tables have: rounded before that, it would differ from them.
  return {{"aurc", whole.area}, {"points", points_json(curve)}};
}

// A label that the model does not have counts as wrong.
CurveJson reliability_json(const torch::Tensor& probabilities, const torch::Tensor& wrong) {
  const auto labels = (probabilities.argmax(1) + wrong.to(torch::kInt64)).remainder(probabilities.size(1));
  auto json = CurveJson::array();
  for (const auto& bin : reliability(probabilities, labels, Binning::kEqualWidth, kReliabilityBins))
    json.push_back({{"rows", bin.rows},
                    {"confidence", short_number(bin.confidence, 5)},
                    {"accuracy", short_number(bin.accuracy, 5)}});
  return json;
}

namespace {

CurveJson task_json(const torch::Tensor& positive, const torch::Tensor& negative, const MeasureDetection& row) {
  const Ranking ranking({span_of(positive), span_of(negative)});
  const auto& d = row.detection;
  return {{"auroc", short_number(d.auroc.value, 6)},
          {"aupr", short_number(d.aupr.value, 6)},
          {"fpr95", short_number(d.fpr95.value, 6)},
          {"positives", d.positives},
          {"negatives", d.negatives},
          {"roc", points_json(thinned(roc_curve(ranking)))},
          {"pr", points_json(thinned(precision_recall_curve(ranking)))}};
}

CurveJson histograms_json(const Evaluation& evaluation, const std::string& measure) {
  std::vector<torch::Tensor> sets{evaluation.inside_scores.find(measure)->contiguous()};
  for (const auto& scores : evaluation.outside_scores) sets.push_back(scores.find(measure)->contiguous());
  std::vector<std::span<const double>> spans;
  for (const auto& values : sets) spans.push_back(span_of(values));
  const auto bins = shared_bins(spans);
  CurveJson json = {{"low", short_number(bins.low, 6)}, {"high", short_number(bins.high, 6)}};
  for (const auto& values : spans) json["sets"].push_back(histogram(values, bins));
  const auto wrong = sets[0].masked_select(evaluation.wrong);
  json["wrong"] = histogram(span_of(wrong), bins);
  return json;
}

CurveJson measure_json(const Evaluation& evaluation, const std::string& measure, const torch::Tensor& values) {
  const auto score = uncertainty(measure, values);
  const auto& wrong = evaluation.wrong;
  CurveJson json = {{"measure", measure},
                    {"histograms", histograms_json(evaluation, measure)},
                    {"risk", risk_json(score, wrong)},
                    {"tasks", CurveJson::array()}};
  const auto* row = find_measure(evaluation.inside.misclassification, measure);
  json["tasks"].push_back(row == nullptr
                              ? CurveJson(nullptr)
                              : task_json(score.masked_select(wrong), score.masked_select(wrong.logical_not()), *row));
  for (size_t s = 0; s < evaluation.outside.size(); ++s) {
    row = find_measure(evaluation.outside[s].detection, measure);
    json["tasks"].push_back(
        row == nullptr ? CurveJson(nullptr)
                       : task_json(uncertainty(measure, *evaluation.outside_scores[s].find(measure)), score, *row));
  }
  return json;
}

std::filesystem::path metrics_of_run(const std::filesystem::path& run) {
  const auto own = run / "metrics.jsonl";
  return std::filesystem::exists(own) ? own : run / "member-1" / "metrics.jsonl";
}

CurveJson training_json(const std::filesystem::path& run) {
  auto json = CurveJson::array();
  const auto epochs = epochs_in(metrics_of_run(run));
  const size_t step = (epochs.size() + kEpochs - 1) / kEpochs;
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (i % step != 0 && i + 1 != epochs.size()) continue;
    CurveJson epoch = {{"epoch", epochs[i].at("epoch")}};
    const auto add = [&](const CurveJson& from, const char* key, const std::string& name) {
      if (from.contains(key) && from.at(key).is_number()) epoch[name] = short_number(from.at(key), 5);
    };
    for (const auto* key : {"loss", "inside", "outside", "cross_entropy", "gradient_norm", "rate"})
      add(epochs[i], key, key);
    if (epochs[i].contains("validation"))
      for (const auto* key : {"error", "nll", "ece"})
        add(epochs[i].at("validation"), key, std::string("validation_") + key);
    json.push_back(std::move(epoch));
  }
  return json;
}

CurveJson model_json(const DrawnModel& model) {
  const auto& evaluation = *model.evaluation;
  CurveJson json = {{"model", model.name},
                    {"sigma", model.sigma},
                    {"ece", short_number(evaluation.inside.calibration_error, 5)},
                    {"error", short_number(evaluation.inside.error, 5)},
                    {"training", training_json(model.run)},
                    {"reliability", reliability_json(evaluation.inside_scores.probabilities, evaluation.wrong)},
                    {"measures", CurveJson::array()}};
  for (const auto& [measure, values] : evaluation.inside_scores.columns)
    if (measure != "precision")  // it spans many powers of ten, which 60 bins cannot show
      json["measures"].push_back(measure_json(evaluation, measure, values));
  return json;
}

}  // namespace

std::string curves_json(const DrawnSets& sets, const std::vector<DrawnModel>& models) {
  CurveJson json = {{"seed", sets.seed}, {"sets", {sets.inside}}, {"models", CurveJson::array()}};
  for (const auto& title : sets.outside) json["sets"].push_back(title);
  for (const auto& model : models) json["models"].push_back(model_json(model));
  return json_text(json) + "\n";
}

}  // namespace priornet
