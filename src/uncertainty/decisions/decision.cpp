#include <priornet/uncertainty/decision.h>

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

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

// Of an input as rare as `rarity`.
double p_value(std::span<const double> combined, double rarity) {
  const auto at_least = combined.end() - std::lower_bound(combined.begin(), combined.end(), rarity);
  return static_cast<double>(1 + at_least) / static_cast<double>(combined.size() + 1);
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
    if (values.isnan().any().item<bool>())
      throw ArgumentError(c10::str("decide: ", points.watches[w].measure, " should be a number, found NaN"));
  }
}

}  // namespace

double spread_of(const Watch& watch) {
  const auto reference = values_of(watch.reference);
  const auto largest = reference.back();
  // A reference that is constant is spread by rounding alone.
  return std::max(largest - reference[reference.size() / 2], 1e-9 * std::max(1.0, std::abs(largest)));
}

torch::Tensor rarity(const Watch& watch, const torch::Tensor& values) {
  const auto reference = values_of(watch.reference);
  const auto spread = spread_of(watch);
  auto result = values.contiguous().clone();
  auto* of = result.data_ptr<double>();
  for (int64_t i = 0; i < result.numel(); ++i) of[i] = rarity_of(reference, spread, of[i]);
  return result;
}

double rejection_level(const OperatingPoints& points) {
  const auto combined = values_of(points.combined);
  const auto size = static_cast<double>(combined.size());
  const auto allowed = [&](double above) { return (1.0 + above) / (size + 1.0) <= points.false_alarm; };
  // How many may be at least as rare as an input that is rejected, with the rounding of the p-value.
  auto above = std::floor(points.false_alarm * (size + 1.0));
  while (above >= 0.0 && !allowed(above)) above -= 1.0;
  if (above >= 0.0) return combined[combined.size() - 1 - static_cast<size_t>(above)];
  return std::numeric_limits<double>::infinity();
}

void set_thresholds(OperatingPoints& points) {
  const auto level = rejection_level(points);
  for (auto& watch : points.watches) {
    const auto reference = values_of(watch.reference);
    const auto size = static_cast<double>(reference.size());
    watch.threshold = reference.back() + (level - 1.0) * spread_of(watch);
    if (level >= 1.0) continue;
    // Above reference[i] a value is rarer than i + 1 of the reference.
    size_t at = 0;
    while (static_cast<double>(at + 1) / size <= level) ++at;
    watch.threshold = reference[at];
  }
}

void check_points(const OperatingPoints& points) {
  if (points.watches.empty()) throw ArgumentError("operating points: should watch a measure, watch none");
  for (const auto& watch : points.watches) {
    if (watch.cause == Verdict::kAccept)
      throw ArgumentError(c10::str("operating points: ", watch.measure, " should watch for a cause of rejection"));
    check_vector(watch.reference, "the reference of " + watch.measure);
  }
  check_vector(points.combined, "combined");
  if (!(points.false_alarm > 0.0 && points.false_alarm < 1.0))
    throw ArgumentError(
        c10::str("operating points: false_alarm should be between 0 and 1, found ", points.false_alarm));
  if (!(points.temperature > 0.0 && std::isfinite(points.temperature)))
    throw ArgumentError(c10::str("operating points: temperature should be above 0, found ", points.temperature));
}

std::vector<Decision> decide(const OperatingPoints& points, const std::vector<torch::Tensor>& scores) {
  check_points(points);
  check_scores(points, scores);
  const auto combined = values_of(points.combined);
  const auto level = rejection_level(points);
  std::vector<torch::Tensor> rarities;
  for (size_t w = 0; w < scores.size(); ++w)
    rarities.push_back(rarity(points.watches[w], scores[w].to(torch::kCPU)) - kTie);
  std::vector<Decision> decisions(static_cast<size_t>(scores[0].size(0)));
  for (size_t i = 0; i < decisions.size(); ++i) {
    auto rarest = -std::numeric_limits<double>::infinity();
    for (const auto& of_watch : rarities) rarest = std::max(rarest, of_watch.data_ptr<double>()[i]);
    decisions[i].p_value = p_value(combined, rarest);
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

namespace {

// P(Beta(k, n + 1 - k) <= x): that at least k of n uniform numbers are below x.
double beta_cdf(int64_t k, int64_t n, double x) {
  const auto count = static_cast<double>(n);
  const auto log_odds = std::log(x) - std::log1p(-x);
  double log_term = count * std::log1p(-x);
  double fewer = 0.0;
  for (int64_t j = 0; j < k; ++j) {
    fewer += std::exp(log_term);
    log_term += std::log((count - static_cast<double>(j)) / static_cast<double>(j + 1)) + log_odds;
  }
  return std::max(0.0, 1.0 - fewer);
}

double beta_quantile(int64_t k, int64_t n, double probability) {
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 50; ++i) {
    const auto middle = (low + high) / 2;
    (beta_cdf(k, n, middle) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

FalseAlarmRange false_alarm_range(int64_t values, double rate) {
  if (values < 1) throw ArgumentError(c10::str("false_alarm_range: values should be above 0, found ", values));
  if (!(rate > 0.0 && rate < 1.0))
    throw ArgumentError(c10::str("false_alarm_range: rate should be between 0 and 1, found ", rate));
  const auto k = static_cast<int64_t>(std::floor(rate * static_cast<double>(values + 1) + 1e-9));
  if (k == 0) return {};
  return {static_cast<double>(k) / static_cast<double>(values + 1), beta_quantile(k, values, 0.025),
          beta_quantile(k, values, 0.975)};
}

}  // namespace priornet
