#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

using Softmax = SoftmaxMeasures;
using Ensemble = EnsembleMeasures;
using Dirichlet = DirichletMeasures;
using Dirichlets = DirichletEnsembleMeasures;

constexpr auto kDown = Direction::kConfidence;
constexpr auto kNone = Direction::kNone;
constexpr auto kData = Cause::kData;
constexpr auto kDistributional = Cause::kDistributional;
constexpr auto kModel = Cause::kModel;

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
      {.name = "prediction",
       .label = "Prediction",
       .direction = kNone,
       .section = "2",
       .softmax = &Softmax::prediction,
       .ensemble = &Ensemble::prediction,
       .dirichlet = &Dirichlet::prediction},
      {.name = "max_prob",
       .label = "Max. probability",
       .direction = kDown,
       .section = "2",
       .softmax = &Softmax::max_prob,
       .ensemble = &Ensemble::max_prob,
       .dirichlet = &Dirichlet::max_prob},
      {.name = "entropy",
       .label = "Entropy",
       .unit = "nats",
       .section = "2",
       .softmax = &Softmax::entropy,
       .ensemble = &Ensemble::entropy,
       .dirichlet = &Dirichlet::entropy,
       .bound = of_equal_classes},
      {.name = "expected_entropy",
       .label = "Expected entropy",
       .unit = "nats",
       .cause = kData,
       .softmax_cause = kData,
       .section = "2",
       .ensemble = &Ensemble::expected_entropy,
       .dirichlet = &Dirichlet::expected_entropy,
       .bound = of_equal_classes},
      {.name = "mutual_information",
       .label = "Mutual information",
       .unit = "nats",
       .cause = kDistributional,
       .softmax_cause = kModel,
       .section = "2",
       .ensemble = &Ensemble::mutual_information,
       .dirichlet = &Dirichlet::mutual_information,
       .bound = of_equal_classes},
      {.name = "mutual_information_y_theta",
       .label = "M.I. of class and model",
       .unit = "nats",
       .cause = kModel,
       .softmax_cause = kModel,
       .section = "4",
       .dirichlet_ensemble = &Dirichlets::mutual_information_y_theta,
       .bound = of_equal_classes},
      {.name = "differential_entropy",
       .label = "Differential entropy",
       .unit = "nats",
       .cause = kDistributional,
       .softmax_cause = kDistributional,
       .section = "2",
       .dirichlet = &Dirichlet::differential_entropy,
       .preferred = true,
       .bound = of_flat_dirichlet},
      {.name = "precision",
       .label = "Precision",
       .direction = kDown,
       .cause = kDistributional,
       .softmax_cause = kDistributional,
       .section = "2",
       .dirichlet = &Dirichlet::precision},
      {.name = "expected_pairwise_kl",
       .label = "Expected pairwise KL",
       .unit = "nats",
       .cause = kDistributional,
       .softmax_cause = kDistributional,
       .section = "2",
       .dirichlet = &Dirichlet::expected_pairwise_kl},
      {.name = "epistemic_variance",
       .label = "Epistemic variance",
       .cause = kDistributional,
       .softmax_cause = kDistributional,
       .section = "2",
       .dirichlet = &Dirichlet::epistemic_variance,
       .bound = of_even_draws},
      {.name = "aleatoric_variance",
       .label = "Aleatoric variance",
       .cause = kData,
       .softmax_cause = kData,
       .section = "2",
       .dirichlet = &Dirichlet::aleatoric_variance,
       .bound = of_even_draws},
      {.name = "epkl",
       .label = "Expected pairwise KL of members",
       .unit = "nats",
       .cause = kModel,
       .softmax_cause = kModel,
       .section = "4",
       .dirichlet_ensemble = &Dirichlets::epkl},
      {.name = "mutual_information_mu_theta",
       .label = "M.I. of categorical and model",
       .unit = "nats",
       .cause = kModel,
       .softmax_cause = kModel,
       .section = "4",
       .dirichlet_ensemble = &Dirichlets::mutual_information_mu_theta},
      {.name = "mutual_information_mu_theta_std_err",
       .label = "Standard error of the M.I. of categorical and model",
       .unit = "nats",
       .direction = kNone,
       .cause = kModel,
       .softmax_cause = kModel,
       .section = "4",
       .dirichlet_ensemble = &Dirichlets::mutual_information_mu_theta_std_err},
      {.name = "energy",
       .label = "Energy",
       .unit = "nats",
       .cause = kDistributional,
       .softmax_cause = kDistributional,
       .section = "9"},
      {.name = "odin",
       .label = "ODIN",
       .direction = kDown,
       .cause = kDistributional,
       .softmax_cause = kDistributional,
       .section = "9"},
  };
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
  return direction == Direction::kUncertainty ? "uncertainty" : direction == kDown ? "confidence" : "none";
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
