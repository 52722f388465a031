#include <priornet/deploy/thresholds.h>

#include <fmt/format.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

const torch::Tensor& column(const Predictions& said, const std::string& measure) {
  if (const auto* values = said.score(measure)) return *values;
  throw ArgumentError(fmt::format("calibrate: the network gives no {}", measure));
}

double likelihood_loss(const torch::Tensor& logits, const torch::Tensor& labels, double temperature) {
  auto probabilities = torch::softmax(logits / temperature, -1);
  if (probabilities.dim() == 3) probabilities = probabilities.mean(0);
  // One more row whose label could be any: otherwise a set without errors would ask for certainty.
  const auto any = -probabilities.clamp_min(1e-300).log().mean().item<double>();
  return negative_log_likelihood(probabilities, labels) + any / static_cast<double>(labels.size(0));
}

/// Scores of detectors are of every model.
bool gives(const Measure& measure, bool dirichlet, bool several) {
  const bool detector = measure.softmax == nullptr && measure.ensemble == nullptr && measure.dirichlet == nullptr &&
                        measure.dirichlet_ensemble == nullptr;
  if (detector) return true;
  if (dirichlet) return several ? measure.dirichlet_ensemble != nullptr : measure.dirichlet != nullptr;
  return several ? measure.ensemble != nullptr : measure.softmax != nullptr;
}

/// The measure of the table that speaks for a cause, or null.
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

CalibrationHalves calibration_halves(int64_t size, uint64_t seed) {
  if (size < 2) throw ArgumentError(fmt::format("calibrate: should be given at least 2 inputs, found {}", size));
  auto generator = make_generator(derive_seed(seed, "halves of calibration"));
  const auto rows = torch::randperm(size, generator, torch::kInt64);
  return {rows.narrow(0, 0, size / 2), rows.narrow(0, size / 2, size - size / 2)};
}

OperatingPoints calibrate(const Predictions& said, const torch::Tensor& labels,
                          const std::vector<std::pair<Verdict, std::string>>& watched,
                          const CalibrationOptions& options) {
  if (!(options.false_alarm > 0.0 && options.false_alarm < 1.0))
    throw ArgumentError(fmt::format("calibrate: false_alarm should be between 0 and 1, found {}", options.false_alarm));
  if (watched.empty()) throw ArgumentError("calibrate: should be given at least one measure to watch, found none");
  const auto halves = calibration_halves(said.size(), options.seed);
  if (labels.defined()) check_labels("calibrate", "labels", labels, said.size(), said.logits.size(-1));
  OperatingPoints points;
  points.false_alarm = options.false_alarm;
  points.calibration_size = said.size();
  torch::Tensor rarest;
  for (const auto& [cause, measure] : watched) {
    const auto& values = column(said, measure);
    Watch watch;
    watch.cause = cause;
    watch.measure = measure;
    watch.reference = std::get<0>(values.index_select(0, halves.reference).sort());
    const auto of_watch = rarity(watch, values.index_select(0, halves.combined));
    rarest = rarest.defined() ? torch::maximum(rarest, of_watch) : of_watch;
    points.watches.push_back(std::move(watch));
  }
  points.combined = std::get<0>(rarest.sort());
  if (labels.defined())
    points.temperature = fit_temperature(said.logits.index_select(said.logits.dim() - 2, halves.reference),
                                         labels.index_select(0, halves.reference));
  set_thresholds(points);
  return points;
}

// The loss has one valley in ln T: of one network it is convex in 1 / T.
double fit_temperature(const torch::Tensor& logits, const torch::Tensor& labels) {
  constexpr double kGolden = 0.6180339887498949;
  const auto exact = logits.to(torch::kFloat64);
  const auto loss = [&](double log_temperature) { return likelihood_loss(exact, labels, std::exp(log_temperature)); };
  double low = -std::log(20.0);
  double high = std::log(20.0);
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

int64_t least_calibration_size(double false_alarm) {
  // Half of them, C, have to give a p-value of 1 / (C + 1).
  auto combined = static_cast<int64_t>(std::ceil(1.0 / false_alarm - 1.0 - 1e-9));
  return 2 * std::max<int64_t>(combined, 1) - 1;
}

}  // namespace priornet
