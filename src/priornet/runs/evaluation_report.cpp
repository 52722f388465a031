#include <priornet/runs/evaluation_report.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json as_json(const Estimate& estimate) {
  return {{"value", as_json(estimate.value)}, {"low", as_json(estimate.low)}, {"high", as_json(estimate.high)}};
}

Json as_json(const std::vector<MeasureDetection>& rows) {
  auto json = Json::array();
  for (const auto& [measure, d, aupr_negatives] : rows)
    json.push_back({{"measure", measure},
                    {"positives", d.positives},
                    {"negatives", d.negatives},
                    {"replicates", d.replicates},
                    {"auroc", as_json(d.auroc)},
                    {"aupr", as_json(d.aupr)},
                    {"average_precision", as_json(d.average_precision)},
                    {"fpr95", as_json(d.fpr95)},
                    {"aupr_negatives", as_json(aupr_negatives)}});
  return json;
}

Json as_json(const InsideEvaluation& inside) {
  Json json = {{"set", inside.name},
               {"size", inside.size},
               {"errors", inside.errors},
               {"error", inside.error},
               {"nll", as_json(inside.log_likelihood)},
               {"brier", as_json(inside.brier)},
               {"ece", as_json(inside.calibration_error)},
               {"adaptive_ece", as_json(inside.adaptive_calibration_error)},
               {"misclassification", as_json(inside.misclassification)},
               {"rejection", Json::array()}};
  for (const auto& row : inside.rejection)
    json["rejection"].push_back({{"measure", row.measure},
                                 {"aurc", as_json(row.area)},
                                 {"e_aurc", as_json(row.excess)},
                                 {"prr", as_json(row.prediction_rejection_ratio)}});
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
          {"std_err", as_json(std::sqrt(std::max(a.first_variance + a.second_variance - 2 * a.covariance, 0.0)))},
          {"z", as_json(a.z)},
          {"p_value", as_json(a.p_value)}};
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
  return json.dump(2) + "\n";
}

}  // namespace priornet
