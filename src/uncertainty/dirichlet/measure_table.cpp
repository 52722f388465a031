#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

using Softmax = SoftmaxMeasures;
using Ensemble = EnsembleMeasures;
using Dirichlet = DirichletMeasures;
using Dirichlets = DirichletEnsembleMeasures;

constexpr auto kUp = Direction::kUncertainty;
constexpr auto kDown = Direction::kConfidence;
constexpr auto kNone = Direction::kNone;
constexpr auto kData = Cause::kData;
constexpr auto kDistributional = Cause::kDistributional;
constexpr auto kModel = Cause::kModel;
constexpr auto kTotal = Cause::kTotal;

/// The row of a measure that has a largest value.
Measure bounded(Measure measure, double (*bound)(double classes)) {
  measure.bound = bound;
  return measure;
}

double of_equal_classes(double classes) { return std::log(classes); }            // their entropy
double of_flat_dirichlet(double classes) { return 0.0 - std::lgamma(classes); }  // for two classes 0, not -0
double of_even_draws(double classes) { return 1.0 - 1.0 / classes; }  // the variance of one of equally likely classes

/// Ensembles of Dirichlets give everything that one Dirichlet gives.
Measure of_dirichlets(Measure measure) {
  if (measure.dirichlet != nullptr) measure.dirichlet_ensemble = measure.dirichlet;
  return measure;
}

std::vector<Measure> make_table() {
  std::vector<Measure> table{
      {"prediction", "Prediction", "", kNone, kTotal, kTotal, "2", &Softmax::prediction, &Ensemble::prediction,
       &Dirichlet::prediction},
      {"max_prob", "Max. probability", "", kDown, kTotal, kTotal, "2", &Softmax::max_prob, &Ensemble::max_prob,
       &Dirichlet::max_prob},
      bounded({"entropy", "Entropy", "nats", kUp, kTotal, kTotal, "2", &Softmax::entropy, &Ensemble::entropy,
               &Dirichlet::entropy},
              of_equal_classes),
      bounded({"expected_entropy", "Expected entropy", "nats", kUp, kData, kData, "2", nullptr,
               &Ensemble::expected_entropy, &Dirichlet::expected_entropy},
              of_equal_classes),
      bounded({"mutual_information", "Mutual information", "nats", kUp, kDistributional, kModel, "2", nullptr,
               &Ensemble::mutual_information, &Dirichlet::mutual_information},
              of_equal_classes),
      bounded({"mutual_information_y_theta", "M.I. of class and model", "nats", kUp, kModel, kModel, "4", nullptr,
               nullptr, nullptr, &Dirichlets::mutual_information_y_theta},
              of_equal_classes),
      bounded({"differential_entropy", "Differential entropy", "nats", kUp, kDistributional, kDistributional, "2",
               nullptr, nullptr, &Dirichlet::differential_entropy, nullptr, true},
              of_flat_dirichlet),
      {"precision", "Precision", "", kDown, kDistributional, kDistributional, "2", nullptr, nullptr,
       &Dirichlet::precision},
      {"expected_pairwise_kl", "Expected pairwise KL", "nats", kUp, kDistributional, kDistributional, "2", nullptr,
       nullptr, &Dirichlet::expected_pairwise_kl},
      bounded({"epistemic_variance", "Epistemic variance", "", kUp, kDistributional, kDistributional, "2", nullptr,
               nullptr, &Dirichlet::epistemic_variance},
              of_even_draws),
      bounded({"aleatoric_variance", "Aleatoric variance", "", kUp, kData, kData, "2", nullptr, nullptr,
               &Dirichlet::aleatoric_variance},
              of_even_draws),
      {"epkl", "Expected pairwise KL of members", "nats", kUp, kModel, kModel, "4", nullptr, nullptr, nullptr,
       &Dirichlets::epkl},
      {"mutual_information_mu_theta", "M.I. of categorical and model", "nats", kUp, kModel, kModel, "4", nullptr,
       nullptr, nullptr, &Dirichlets::mutual_information_mu_theta},
      {"mutual_information_mu_theta_std_err", "Standard error of the M.I. of categorical and model", "nats", kNone,
       kModel, kModel, "4", nullptr, nullptr, nullptr, &Dirichlets::mutual_information_mu_theta_std_err},
      {"energy", "Energy", "nats", kUp, kDistributional, kDistributional, "9"},
      {"odin", "ODIN", "", kDown, kDistributional, kDistributional, "9"}};
  std::transform(table.begin(), table.end(), table.begin(), of_dirichlets);
  return table;
}

template <class Measures>
std::vector<NamedTensor> columns_of(const Measures& measures, torch::Tensor Measures::*Measure::*field) {
  std::vector<NamedTensor> columns;
  for (const auto& measure : measure_table()) {
    if (measure.*field == nullptr) continue;
    const auto& values = measures.*(measure.*field);
    if (values.defined()) columns.push_back({std::string(measure.name), values});
  }
  return columns;
}

}  // namespace

const std::vector<Measure>& measure_table() {
  static const auto table = make_table();
  return table;
}

const Measure* find_measure_by_name(std::string_view name) {
  const auto& table = measure_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& measure) { return measure.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::string_view name_of(Direction direction) {
  return direction == kUp ? "uncertainty" : direction == kDown ? "confidence" : "none";
}

std::string_view name_of(Cause cause) {
  return cause == kData ? "data" : cause == kDistributional ? "distributional" : cause == kModel ? "model" : "total";
}

std::vector<std::string_view> measure_names(Direction direction) {
  std::vector<std::string_view> names;
  for (const auto& measure : measure_table())
    if (measure.direction == direction) names.push_back(measure.name);
  return names;
}

bool is_confidence(std::string_view column) {
  const auto* measure = find_measure_by_name(column);
  return measure != nullptr && measure->direction == kDown;
}

bool is_score(std::string_view column) {
  const auto* measure = find_measure_by_name(column);
  return measure == nullptr || measure->direction != kNone;
}

std::vector<NamedTensor> measure_columns(const DirichletMeasures& measures) {
  return columns_of(measures, &Measure::dirichlet);
}
std::vector<NamedTensor> measure_columns(const SoftmaxMeasures& measures) {
  return columns_of(measures, &Measure::softmax);
}
std::vector<NamedTensor> measure_columns(const EnsembleMeasures& measures) {
  return columns_of(measures, &Measure::ensemble);
}
std::vector<NamedTensor> measure_columns(const DirichletEnsembleMeasures& measures) {
  return columns_of(measures, &Measure::dirichlet_ensemble);
}

std::vector<NamedTensor> measure_columns(const torch::Tensor& logits, LogitKind kind, const MuThetaOptions& estimate) {
  const bool dirichlet = kind == LogitKind::kDirichlet;
  if (logits.dim() != 3)
    return dirichlet ? measure_columns(dirichlet_measures(logits)) : measure_columns(softmax_measures(logits));
  return dirichlet ? measure_columns(dirichlet_ensemble_measures(logits, estimate))
                   : measure_columns(ensemble_measures(logits));
}

std::vector<std::string> measure_names(LogitKind kind, bool ensemble) {
  std::vector<std::string> names;
  for (const auto& measure : measure_table()) {
    const bool there = kind == LogitKind::kDirichlet
                           ? ensemble ? measure.dirichlet_ensemble != nullptr : measure.dirichlet != nullptr
                       : ensemble ? measure.ensemble != nullptr
                                  : measure.softmax != nullptr;
    if (there) names.emplace_back(measure.name);
  }
  return names;
}

}  // namespace priornet
