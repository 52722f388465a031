#include <priornet/deploy/thresholds.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

const torch::Tensor& column(const Predictions& said, const std::string& measure) {
  if (const auto* values = said.score(measure)) return *values;
  throw ArgumentError(fmt::format("calibrate: the network gives no {}", measure));
}

/// How badly a temperature suits logits [N, K], or [M, N, K] of several members, with labels.
class TemperatureLoss {
 public:
  TemperatureLoss(const torch::Tensor& logits, const torch::Tensor& labels)
      : labels_(labels), logits_(logits.to(torch::kFloat64)) {
    if (logits_.dim() == 3) return;
    logits_ = logits_ - std::get<0>(logits_.max(1, true));
    of_labels_ = logits_.gather(1, labels.unsqueeze(1)).mean().item<double>();
    of_all_ = logits_.mean().item<double>();
  }

  double at(double temperature) const {
    const auto [of_labels, of_any] = logits_.dim() == 3 ? of_several(temperature) : of_one(temperature);
    // Before any row is seen, ln T is Gaussian around 0: few rows should not change probabilities by much.
    constexpr double kDeviation = 0.3;
    const auto deviations = std::log(temperature) / kDeviation;
    // One more row whose label could be any: without it a set without errors would lead to certainty.
    return of_labels + (of_any + 0.5 * deviations * deviations) / static_cast<double>(labels_.size(0));
  }

 private:
  using Losses = std::pair<double, double>;  // negative log-likelihoods: of the labels, of any class

  Losses of_one(double temperature) const {
    const auto sum = (logits_ / temperature).exp_().sum(1).log_().mean().item<double>();
    return {sum - of_labels_ / temperature, sum - of_all_ / temperature};
  }

  Losses of_several(double temperature) const {
    const auto probabilities = probabilities_at(logits_, temperature);
    return {negative_log_likelihood(probabilities, labels_),
            -probabilities.clamp_min(1e-300).log().mean().item<double>()};
  }

  torch::Tensor labels_, logits_;
  double of_labels_ = 0.0, of_all_ = 0.0;
};

/// Every model can have scores of detectors.
bool gives(const Measure& measure, bool dirichlet, bool several) {
  const bool detector = measure.softmax == nullptr && measure.ensemble == nullptr && measure.dirichlet == nullptr &&
                        measure.dirichlet_ensemble == nullptr;
  if (detector) return true;
  if (dirichlet) return several ? measure.dirichlet_ensemble != nullptr : measure.dirichlet != nullptr;
  return several ? measure.ensemble != nullptr : measure.softmax != nullptr;
}

/// The measure of the table for a cause, or null.
const Measure* measure_for(Cause cause, bool dirichlet, bool several) {
  const Measure* first = nullptr;
  for (const auto& measure : measure_table()) {
    if (measure.direction != Direction::kUncertainty || !gives(measure, dirichlet, several)) continue;
    if ((dirichlet ? measure.cause : measure.softmax_cause) != cause) continue;
    if (measure.preferred) return &measure;
    if (first == nullptr) first = &measure;
  }
  return first;
}

}  // namespace

std::vector<std::pair<Verdict, std::string>> watched_measures(bool dirichlet, bool several) {
  std::vector<std::pair<Verdict, std::string>> watched;
  const auto watch = [&](Verdict verdict, const Measure* measure) {
    if (measure != nullptr) watched.emplace_back(verdict, measure->name);
  };
  watch(Verdict::kUnfamiliar, measure_for(Cause::kDistributional, dirichlet, several));
  watch(Verdict::kUndecided, measure_for(Cause::kModel, dirichlet, several));
  const auto* data = measure_for(Cause::kData, dirichlet, several);
  watch(Verdict::kAmbiguous, data != nullptr ? data : measure_for(Cause::kTotal, dirichlet, several));
  return watched;
}

OperatingPoints calibrate(const Predictions& said, const torch::Tensor& labels,
                          const std::vector<std::pair<Verdict, std::string>>& watched,
                          const CalibrationOptions& options, const std::vector<NamedTensor>& cross_validated) {
  if (!(options.false_alarm > 0.0 && options.false_alarm < 1.0))
    throw ArgumentError(fmt::format("calibrate: false_alarm should be between 0 and 1, found {}", options.false_alarm));
  if (watched.empty()) throw ArgumentError("calibrate: should be given at least one measure to watch, found none");
  if (said.size() < 2)
    throw ArgumentError(fmt::format("calibrate: should be given at least 2 inputs, found {}", said.size()));
  if (labels.defined()) check_labels("calibrate", "labels", labels, said.size(), said.logits.size(-1));
  std::vector<WatchedValues> values;
  for (const auto& [cause, measure] : watched) {
    if (is_confidence(measure) || !is_score(measure))
      throw ArgumentError(
          fmt::format("calibrate: a verdict watches scores that are high for doubtful inputs, found {}", measure));
    const auto found = std::find_if(cross_validated.begin(), cross_validated.end(),
                                    [&, name = measure](const NamedTensor& one) { return one.name == name; });
    if (found == cross_validated.end()) {
      values.push_back({cause, measure, column(said, measure)});
      continue;
    }
    if (found->values.dim() != 1 || found->values.size(0) <= said.size())
      throw ArgumentError(
          fmt::format("calibrate: {} should have a score of more than {} inputs", measure, said.size()));
    values.push_back({cause, measure, found->values.narrow(0, 0, said.size()),
                      found->values.narrow(0, said.size(), found->values.size(0) - said.size())});
  }
  const auto temperature = labels.defined() ? fit_temperature(said.logits, labels) : 1.0;
  PredictedClasses predicted;
  // As a predictor will predict them: a temperature can change what several members say together.
  if (options.per_class)
    predicted = {std::get<1>(probabilities_at(said.logits, temperature).max(1)), said.logits.size(-1)};
  auto points = operating_points(values, options.false_alarm, predicted);
  points.temperature = temperature;
  return points;
}

torch::Tensor probabilities_at(const torch::Tensor& logits, double temperature) {
  const auto probabilities = torch::softmax(logits / temperature, -1);
  return probabilities.dim() == 3 ? probabilities.mean(0) : probabilities;
}

// For one network the likelihood is convex in 1 / T, but with the Gaussian of ln T, or with several members, the loss
// can have several minima. So a grid finds the best of them, and golden section the place between its neighbours.
double fit_temperature(const torch::Tensor& logits, const torch::Tensor& labels) {
  constexpr double kGolden = 0.6180339887498949;
  constexpr int kPoints = 61;  // one of them at T = 1
  const TemperatureLoss losses(logits, labels);
  const auto loss = [&](double log_temperature) { return losses.at(std::exp(log_temperature)); };
  const double end = std::log(20.0), distance = 2 * end / (kPoints - 1);
  double best = 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kPoints; ++i) {
    const double here = -end + i * distance, value = loss(here);
    if (value < least) best = here, least = value;
  }
  double low = std::max(-end, best - distance);
  double high = std::min(end, best + distance);
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double at_left = loss(left);
  double at_right = loss(right);
  while (high - low > 1e-4) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      at_left = loss(left = high - kGolden * (high - low));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      at_right = loss(right = low + kGolden * (high - low));
    }
  }
  return std::exp((low + high) / 2);
}

namespace {

/// The largest value that a measure can have for a model with that many classes; infinite if there is none.
double largest_value(const std::string& measure, int64_t classes) {
  const auto* entry = find_measure_by_name(measure);
  return entry != nullptr && entry->bound != nullptr ? entry->bound(static_cast<double>(classes))
                                                     : std::numeric_limits<double>::infinity();
}

}  // namespace

bool can_reject(const Watch& watch, int64_t classes) { return watch.threshold < largest_value(watch.measure, classes); }

std::vector<std::string> unreachable_thresholds(const OperatingPoints& points, int64_t classes) {
  std::vector<std::string> said;
  const auto look = [&](const std::vector<Watch>& watches, const std::string& where) {
    for (const auto& watch : watches) {
      const auto largest = largest_value(watch.measure, classes);
      if (std::isinf(watch.threshold))
        said.push_back(fmt::format("{}{}: {} inputs are too few for a rate of {}; {} are needed", watch.measure, where,
                                   watch.reference.size(0), points.false_alarm,
                                   least_calibration_size(points.false_alarm)));
      else if (!can_reject(watch, classes))
        said.push_back(fmt::format("{}{}: its threshold of {:.5g} is {} its bound of {:.5g}", watch.measure, where,
                                   watch.threshold,
                                   watch.threshold > largest + 1e-9 * std::abs(largest) ? "above" : "at", largest));
    }
  };
  if (points.groups.empty()) look(points.watches, "");
  for (const auto& group : points.groups)
    look(group.watches, fmt::format(" of class {}", fmt::join(group.classes, ", ")));
  return said;
}

}  // namespace priornet
