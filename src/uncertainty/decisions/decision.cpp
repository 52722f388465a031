#include <priornet/uncertainty/decision.h>

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <unordered_map>

namespace priornet {
namespace {

// In the order in which they are named as the cause.
constexpr std::array<Verdict, 3> kCauses = {Verdict::kUnfamiliar, Verdict::kUndecided, Verdict::kAmbiguous};

std::span<const double> values_of(const torch::Tensor& vector) {
  return {vector.data_ptr<double>(), static_cast<size_t>(vector.numel())};
}

void check_vector(const torch::Tensor& vector, const std::string& name) {
  if (!vector.defined() || vector.dim() != 1 || vector.numel() == 0 || vector.scalar_type() != torch::kFloat64 ||
      !vector.device().is_cpu() || !vector.is_contiguous())
    throw ArgumentError(c10::str("operating points: ", name, " should be a float64 vector with at least one value"));
  const auto values = values_of(vector);
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    throw ArgumentError(c10::str("operating points: ", name, " should hold finite values"));
  if (!std::is_sorted(values.begin(), values.end()))
    throw ArgumentError(c10::str("operating points: ", name, " should be ascending"));
}

double rarity_of(std::span<const double> reference, double spread, double value) {
  const auto least = value - std::abs(value) * kTie;
  const auto below = std::lower_bound(reference.begin(), reference.end(), least) - reference.begin();
  const auto share = static_cast<double>(below) / static_cast<double>(reference.size());
  return share + std::max(0.0, value - reference.back()) / spread;
}

// For an input of this rarity; `rarities`: of the calibration inputs, ascending.
double p_value(std::span<const double> rarities, double rarity) {
  const auto at_least = rarities.end() - std::lower_bound(rarities.begin(), rarities.end(), rarity);
  return static_cast<double>(1 + at_least) / static_cast<double>(rarities.size() + 1);
}

void check_scores(const OperatingPoints& points, const std::vector<torch::Tensor>& scores) {
  if (scores.size() != points.watches.size())
    throw ArgumentError(
        c10::str("decide: should be given ", points.watches.size(), " measures, found ", scores.size()));
  for (size_t w = 0; w < scores.size(); ++w) {
    const auto& values = scores[w];
    if (values.dim() != 1 || values.scalar_type() != torch::kFloat64 || values.size(0) != scores[0].size(0))
      throw ArgumentError(
          c10::str("decide: ", points.watches[w].measure, " should be float64 [N], the same N for all measures"));
    const auto here = values.to(torch::kCPU).contiguous();
    const auto numbers = values_of(here);
    if (std::any_of(numbers.begin(), numbers.end(), [](double value) { return std::isnan(value); }))
      throw ArgumentError(c10::str("decide: ", points.watches[w].measure, " should be a number, found NaN"));
  }
}

}  // namespace

double spread_of(const Watch& watch) {
  const auto reference = values_of(watch.reference);
  const auto largest = reference.back();
  // The values of a constant reference differ by rounding alone.
  return std::max(largest - reference[reference.size() / 2], 1e-9 * std::max(1.0, std::abs(largest)));
}

torch::Tensor rarity(const Watch& watch, const torch::Tensor& values) {
  const auto reference = values_of(watch.reference);
  const auto spread = spread_of(watch);
  auto result = values.to(torch::kCPU).contiguous().clone();
  auto* of = result.data_ptr<double>();
  for (int64_t i = 0; i < result.numel(); ++i) of[i] = rarity_of(reference, spread, of[i]) + watch.precedence;
  return result;
}

double rejection_level(const OperatingPoints& points) {
  const auto rarities = values_of(points.rarities);
  const auto size = static_cast<double>(rarities.size());
  const auto allowed = [&](double above) { return (1.0 + above) / (size + 1.0) <= points.false_alarm; };
  // How many calibration inputs may be at least as rare as a rejected input, with the rounding of the p-value.
  auto above = std::floor(points.false_alarm * (size + 1.0));
  while (above >= 0.0 && !allowed(above)) above -= 1.0;
  if (above >= 0.0) return rarities[rarities.size() - 1 - static_cast<size_t>(above)];
  return std::numeric_limits<double>::infinity();
}

namespace {

void set_watch_thresholds(std::vector<Watch>& watches, double level) {
  for (auto& watch : watches) {
    const auto reference = values_of(watch.reference);
    const auto size = static_cast<double>(reference.size());
    watch.threshold = reference.back() + (level - watch.precedence - 1.0) * spread_of(watch);
    if (level >= 1.0 + watch.precedence) continue;
    // A value above reference[i] is rarer than i + 1 values of the reference.
    size_t at = 0;
    while (at + 1 < reference.size() && static_cast<double>(at + 1) / size + watch.precedence <= level) ++at;
    watch.threshold = reference[at];
  }
}

}  // namespace

void set_thresholds(OperatingPoints& points) {
  set_watch_thresholds(points.watches, rejection_level(points));
  for (auto& group : points.groups)
    set_watch_thresholds(group.watches, rejection_level(points_of_group(points, group)));
}

namespace {

void check_watches(const std::vector<Watch>& watches, const torch::Tensor& rarities) {
  if (watches.empty()) throw ArgumentError("operating points: should watch a measure, found none");
  for (const auto& watch : watches) {
    if (watch.cause == Verdict::kAccept)
      throw ArgumentError(c10::str("operating points: ", watch.measure, " should watch for a cause of rejection"));
    check_vector(watch.reference, "the reference of " + watch.measure);
    if (!(watch.precedence >= 0.0 && watch.precedence * static_cast<double>(watch.reference.size(0)) < 1.0))
      throw ArgumentError(c10::str("operating points: the precedence of ", watch.measure, " should be below 1 / R"));
  }
  check_vector(rarities, "the rarities of calibration inputs");
}

// Fitted temperatures lie between 1 / 20 and 20.
constexpr double kLowestTemperature = 1e-3;
constexpr double kHighestTemperature = 1e3;

}  // namespace

void check_points(const OperatingPoints& points) {
  check_watches(points.watches, points.rarities);
  std::set<int64_t> classes;
  for (const auto& group : points.groups) {
    check_watches(group.watches, group.rarities);
    const bool alike = std::equal(
        group.watches.begin(), group.watches.end(), points.watches.begin(), points.watches.end(),
        [](const Watch& one, const Watch& other) { return one.cause == other.cause && one.measure == other.measure; });
    if (!alike) throw ArgumentError("operating points: every group should watch the same measures");
    for (const auto one : group.classes) {
      if (one < 0) throw ArgumentError(c10::str("operating points: a class should be at least 0, found ", one));
      if (!classes.insert(one).second)
        throw ArgumentError(c10::str("operating points: class ", one, " is in two groups"));
    }
  }
  if (!(points.false_alarm > 0.0 && points.false_alarm < 1.0))
    throw ArgumentError(
        c10::str("operating points: false_alarm should be between 0 and 1, found ", points.false_alarm));
  if (!(points.temperature >= kLowestTemperature && points.temperature <= kHighestTemperature))
    throw ArgumentError(c10::str("operating points: temperature should be between ", kLowestTemperature, " and ",
                                 kHighestTemperature, ", found ", points.temperature));
}

namespace {

std::vector<Decision> decide_alike(const OperatingPoints& points, const std::vector<torch::Tensor>& scores) {
  const auto calibration = values_of(points.rarities);
  const auto level = rejection_level(points);
  std::vector<torch::Tensor> rarities;
  for (size_t w = 0; w < scores.size(); ++w) {
    rarities.push_back(rarity(points.watches[w], scores[w]));
    auto* of = rarities.back().data_ptr<double>();
    for (int64_t i = 0; i < rarities.back().numel(); ++i) of[i] -= kTie;
  }
  std::vector<Decision> decisions(static_cast<size_t>(scores[0].size(0)));
  for (size_t i = 0; i < decisions.size(); ++i) {
    auto rarest = -std::numeric_limits<double>::infinity();
    for (const auto& of_watch : rarities) rarest = std::max(rarest, of_watch.data_ptr<double>()[i]);
    decisions[i].p_value = p_value(calibration, rarest);
    if (decisions[i].p_value > points.false_alarm) continue;
    const Watch* spoke = nullptr;
    for (const auto cause : kCauses) {
      auto loudest = level;
      for (size_t w = 0; w < rarities.size(); ++w) {
        const auto here = rarities[w].data_ptr<double>()[i];
        if (points.watches[w].cause != cause || !(here > loudest)) continue;
        loudest = here;
        spoke = &points.watches[w];
      }
      if (spoke != nullptr) break;
    }
    decisions[i].verdict = spoke->cause;
    decisions[i].watch = spoke->measure;
  }
  return decisions;
}

/// The rows whose predicted class is in each group.
std::vector<std::vector<int64_t>> rows_by_group(const OperatingPoints& points, const torch::Tensor& predictions) {
  std::unordered_map<int64_t, size_t> group_of;
  for (size_t g = 0; g < points.groups.size(); ++g)
    for (const auto one : points.groups[g].classes) group_of[one] = g;
  std::vector<std::vector<int64_t>> rows(points.groups.size());
  const auto* predicted = predictions.data_ptr<int64_t>();
  for (int64_t row = 0; row < predictions.size(0); ++row) {
    const auto group = group_of.find(predicted[row]);
    if (group == group_of.end()) throw ArgumentError("decide: a predicted class is in none of the groups");
    rows[group->second].push_back(row);
  }
  return rows;
}

}  // namespace

OperatingPoints points_of_group(const OperatingPoints& points, const ClassGroup& group) {
  return {.watches = group.watches,
          .rarities = group.rarities,
          .groups = {},
          .false_alarm = points.false_alarm,
          .temperature = points.temperature,
          .calibration_set = points.calibration_set,
          .calibration_size = points.calibration_size};
}

std::vector<Decision> decide(const OperatingPoints& points, const std::vector<torch::Tensor>& scores,
                             const torch::Tensor& predictions) {
  check_points(points);
  check_scores(points, scores);
  if (points.groups.empty()) return decide_alike(points, scores);
  if (!predictions.defined() || predictions.sizes() != scores[0].sizes() || predictions.scalar_type() != torch::kInt64)
    throw ArgumentError("decide: the thresholds are per class: predictions should be int64 [N]");
  const auto rows = rows_by_group(points, predictions.cpu().contiguous());
  std::vector<Decision> decisions(static_cast<size_t>(predictions.size(0)));
  for (size_t g = 0; g < rows.size(); ++g) {
    if (rows[g].empty()) continue;
    const auto indices = torch::tensor(rows[g], torch::kInt64);
    std::vector<torch::Tensor> of_group;
    for (const auto& values : scores) of_group.push_back(values.cpu().index_select(0, indices));
    const auto judged = decide_alike(points_of_group(points, points.groups[g]), of_group);
    for (size_t i = 0; i < judged.size(); ++i) decisions[static_cast<size_t>(rows[g][i])] = judged[i];
  }
  return decisions;
}

}  // namespace priornet
