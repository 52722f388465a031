#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace priornet {
namespace {

void check_values(const std::string& measure, const torch::Tensor& values, const torch::Tensor& first,
                  const char* size) {
  if (!values.defined() || values.dim() != 1 || values.scalar_type() != torch::kFloat64 ||
      values.sizes() != first.sizes())
    throw ArgumentError(c10::str("operating_points: ", measure, " should be float64 [", size, "], the same ", size,
                                 " for all measures"));
  if (!values.isfinite().all().item<bool>())
    throw ArgumentError(c10::str("operating_points: ", measure, " should hold finite values"));
}

/// The `others` of the first watch that has any, or an undefined tensor.
torch::Tensor others_of(const std::vector<WatchedValues>& watched) {
  for (const auto& one : watched)
    if (one.others.defined()) return one.others;
  return {};
}

void check_watched(const std::vector<WatchedValues>& watched) {
  if (watched.empty())
    throw ArgumentError("operating_points: should be given at least one measure to watch, found none");
  const auto& first = watched.front().values;
  const auto others = others_of(watched);
  for (const auto& one : watched) {
    check_values(one.measure, one.values, first, "N");
    if (one.others.defined()) check_values(one.measure, one.others, others, "T");
  }
  if (first.size(0) < 2)
    throw ArgumentError(c10::str("operating_points: should be given at least 2 inputs, found ", first.size(0)));
}

/// How far, at most, the largest value lies above the others once an input has joined them below it. The input may
/// itself be the next largest, which makes the distance smaller, and may move their median, to at most reference[R /
/// 2].
double largest_lead(const double* reference, int64_t size) {
  const auto spread = std::max(reference[size - 2] - reference[size / 2], 1e-9);
  return (reference[size - 1] - reference[size - 2]) / spread;
}

/// For every value of a watch, how rare it is among the others and an input that joined them below it. Ranks lie half a
/// step of precedence lower than those of the input itself: the value counts those above it, and not the one just
/// below.
torch::Tensor joined_rarity(const Watch& watch, const torch::Tensor& values, double half_step) {
  const auto size = values.size(0);
  const auto* reference = watch.reference.data_ptr<double>();
  auto result = values.contiguous().clone();
  auto* of = result.data_ptr<double>();
  for (int64_t i = 0; i < size; ++i) {
    // Ties count as equal, as those of an input do.
    const auto least = of[i] - std::abs(of[i]) * kTie;
    const auto below = std::lower_bound(reference, reference + size, least) - reference;
    const auto rank = static_cast<double>(below + 1) / static_cast<double>(size) + watch.precedence;
    of[i] = below == size - 1 ? rank + largest_lead(reference, size) : rank - half_step;
  }
  return result;
}

struct Joined {
  std::vector<Watch> watches;
  torch::Tensor combined;
};

/// `rows`: int64, or undefined for all.
Joined joined(const std::vector<WatchedValues>& watched, const torch::Tensor& rows) {
  const auto count = static_cast<double>(watched.size());
  Joined result;
  torch::Tensor rarest;
  for (size_t w = 0; w < watched.size(); ++w) {
    const auto values = rows.defined() ? watched[w].values.index_select(0, rows) : watched[w].values;
    const auto size = static_cast<double>(values.size(0));
    Watch watch;
    watch.cause = watched[w].cause;
    watch.measure = watched[w].measure;
    watch.reference = std::get<0>(values.cpu().sort()).contiguous();
    watch.precedence = (count - 1.0 - static_cast<double>(w)) / (count * size);
    const auto of_watch = joined_rarity(watch, values.cpu(), 0.5 / (count * size));
    rarest = rarest.defined() ? torch::maximum(rarest, of_watch) : of_watch;
    result.watches.push_back(std::move(watch));
  }
  result.combined = std::get<0>(rarest.sort()).contiguous();
  return result;
}

/// How often new inputs exceed a value of a measure that m inputs have: by the rank of the value x among them, counting
/// x itself, (1 + how many are at least as large) / (m + 1); above the largest it falls exponentially, through 1/2 at
/// the median and 1 / (m + 1) at the largest.
class EstimatedTail {
 public:
  explicit EstimatedTail(const torch::Tensor& values)
      : values_(values.cpu().contiguous()),
        sorted_(std::get<0>(values_.sort()).contiguous()),
        size_(values.size(0)),
        slope_(std::log(static_cast<double>(size_ + 1) / 2.0)) {}

  /// The value above which the tail is at most `tail`, which is above 0.
  double value_at(double tail) const {
    const auto* sorted = sorted_.data_ptr<double>();
    const auto least = std::clamp<int64_t>(static_cast<int64_t>(tail * static_cast<double>(size_ + 1)), 0, size_);
    if (least > 0) return sorted[size_ - least];
    const auto largest = sorted[size_ - 1];
    const auto spread = std::max(largest - sorted[size_ / 2], 1e-9 * std::max(1.0, std::abs(largest)));
    return largest - spread * std::log(tail * static_cast<double>(size_ + 1)) / slope_;
  }

  /// For each of the m once a new input has joined them below it: half a rank below a value just above it.
  std::vector<double> of_inputs() const {
    const auto* sorted = sorted_.data_ptr<double>();
    const auto* of = values_.data_ptr<double>();
    std::vector<double> tails;
    for (int64_t i = 0; i < size_; ++i) {
      const auto least = of[i] - std::abs(of[i]) * kTie;
      const auto below = std::lower_bound(sorted, sorted + size_, least) - sorted;
      const auto above = static_cast<double>(size_ - below) + 0.5;
      tails.push_back((below == size_ - 1 ? std::exp(-slope_ * largest_lead(sorted, size_)) : above) /
                      static_cast<double>(size_ + 1));
    }
    return tails;
  }

 private:
  torch::Tensor values_;
  torch::Tensor sorted_;
  int64_t size_;
  double slope_;
};

/// How much less a measure of few inputs counts than a watch of all: its tail is taken as e times as large. The two
/// share one rate of false alarms, and a measure known for few inputs would take most of it.
constexpr double kHandicap = 2.718281828459045;

/// A watch whose reference is `size` quantiles of that estimate, and how rare each of the m inputs is to it.
std::pair<Watch, torch::Tensor> estimated(const WatchedValues& watched, int64_t size) {
  const EstimatedTail tail(watched.values);
  const auto count = static_cast<double>(size);
  Watch watch{watched.cause, watched.measure, torch::empty({size}, torch::kFloat64)};
  auto* reference = watch.reference.data_ptr<double>();
  for (int64_t i = 0; i < size; ++i)
    reference[i] = tail.value_at((1.0 - (static_cast<double>(i) + 0.5) / count) / kHandicap);
  const auto spread = spread_of(watch);
  auto rarest = torch::empty({watched.values.size(0)}, torch::kFloat64);
  const auto tails = tail.of_inputs();
  for (size_t i = 0; i < tails.size(); ++i) {
    // How many of the quantiles have a larger tail.
    const auto below = std::clamp(std::ceil(count * (1.0 - kHandicap * tails[i]) - 0.5), 0.0, count);
    const auto lead = below < count ? 0.0 : std::max(0.0, tail.value_at(tails[i]) - reference[size - 1]) / spread;
    rarest.data_ptr<double>()[i] = below / count + lead;
  }
  return {std::move(watch), std::move(rarest)};
}

/// The same as joined() for watches with `others`. Inputs are the N, then the T. No watch takes precedence over
/// another: an input of the same rank in another watch is not counted.
Joined cross_joined(const std::vector<WatchedValues>& watched, int64_t others) {
  const auto known = watched.front().values.size(0);
  const auto size = known + others;
  // Which of the N each of the T borrows from: in turn.
  const auto lender = torch::cat({torch::arange(known), torch::arange(others).remainder(known)});
  Joined result;
  torch::Tensor rarest;
  for (const auto& one : watched) {
    torch::Tensor of_watch;
    Watch watch;
    if (one.others.defined()) {
      const auto values = torch::cat({one.values.cpu(), one.others.cpu()});
      watch = {one.cause, one.measure, std::get<0>(values.sort()).contiguous()};
      of_watch = joined_rarity(watch, values, 0.25 / static_cast<double>(size));
    } else {
      std::tie(watch, of_watch) = estimated(one, size);
      of_watch = of_watch.index_select(0, lender);
    }
    rarest = rarest.defined() ? torch::maximum(rarest, of_watch) : of_watch;
    result.watches.push_back(std::move(watch));
  }
  result.combined = std::get<0>(rarest.sort()).contiguous();
  return result;
}

/// The classes whose inputs a new input of class `of` is ranked among, given the numbers per class with the new one
/// included: its own class if that has `enough`; else all classes that have fewer, and then the next larger ones until
/// they have enough. The choice does not depend on which of the inputs is the new one, so the promise is exact.
std::vector<int64_t> companions(std::vector<int64_t> counts, int64_t of, int64_t enough) {
  ++counts[static_cast<size_t>(of)];
  std::vector<int64_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t one, int64_t other) {
    return counts[static_cast<size_t>(one)] < counts[static_cast<size_t>(other)];
  });
  std::vector<int64_t> sharing;
  int64_t together = 0;
  for (const auto one : order) {
    const auto count = counts[static_cast<size_t>(one)];
    if (count >= enough && (together == 0 || together >= enough)) break;
    sharing.push_back(one);
    together += count;
  }
  if (std::find(sharing.begin(), sharing.end(), of) == sharing.end()) return {of};
  std::sort(sharing.begin(), sharing.end());
  return sharing;
}

std::vector<ClassGroup> class_groups(const std::vector<WatchedValues>& watched, double false_alarm,
                                     const PredictedClasses& predicted) {
  const auto& of_inputs = predicted.of_inputs;
  if (of_inputs.dim() != 1 || of_inputs.sizes() != watched.front().values.sizes() ||
      of_inputs.scalar_type() != torch::kInt64 || of_inputs.min().item<int64_t>() < 0 ||
      of_inputs.max().item<int64_t>() >= predicted.classes)
    throw ArgumentError(c10::str("operating_points: predicted classes should be int64 [N], below ", predicted.classes));
  const auto counted = of_inputs.cpu().bincount({}, predicted.classes);
  const std::vector<int64_t> counts(counted.data_ptr<int64_t>(), counted.data_ptr<int64_t>() + predicted.classes);
  std::vector<std::pair<std::vector<int64_t>, ClassGroup>> groups;  // by the classes of their inputs
  for (int64_t one = 0; one < predicted.classes; ++one) {
    const auto sharing = companions(counts, one, least_calibration_size(false_alarm) + 1);
    const auto known =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == sharing; });
    if (known != groups.end()) {
      known->second.classes.push_back(one);
      continue;
    }
    const auto rows = torch::isin(of_inputs, torch::tensor(sharing, torch::kInt64)).nonzero().flatten();
    auto [watches, combined] = joined(watched, rows);
    groups.push_back({sharing, {{one}, std::move(watches), std::move(combined)}});
  }
  std::vector<ClassGroup> result;
  for (auto& [sharing, group] : groups) result.push_back(std::move(group));
  return result;
}

}  // namespace

OperatingPoints operating_points(const std::vector<WatchedValues>& watched, double false_alarm,
                                 const PredictedClasses& predicted) {
  if (!(false_alarm > 0.0 && false_alarm < 1.0))
    throw ArgumentError(c10::str("operating_points: false_alarm should be between 0 and 1, found ", false_alarm));
  check_watched(watched);
  OperatingPoints points;
  points.false_alarm = false_alarm;
  points.calibration_size = watched.front().values.size(0);
  const auto others = others_of(watched);
  if (others.defined() && predicted.of_inputs.defined())
    throw ArgumentError("operating_points: classes have no thresholds of their own where watches have others");
  auto [watches, combined] = others.defined() ? cross_joined(watched, others.size(0)) : joined(watched, {});
  points.watches = std::move(watches);
  points.combined = std::move(combined);
  if (predicted.of_inputs.defined()) points.groups = class_groups(watched, false_alarm, predicted);
  set_thresholds(points);
  return points;
}

int64_t least_calibration_size(double false_alarm) {
  return std::max<int64_t>(static_cast<int64_t>(std::ceil(1.0 / false_alarm - 1.0 - 1e-9)), 2);
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

FalseAlarmRange false_alarm_range(const OperatingPoints& points) {
  const auto size = points.combined.size(0);
  const auto level = rejection_level(points);
  if (std::isinf(level)) return {};
  const auto allowed = static_cast<int64_t>(std::floor(points.false_alarm * static_cast<double>(size + 1) + 1e-9));
  const auto above = points.combined.gt(level + kTie).sum().item<int64_t>();
  FalseAlarmRange range = {static_cast<double>(above + 1) / static_cast<double>(size + 1),
                           above == 0 ? 0.0 : beta_quantile(above, size, 0.025), beta_quantile(above + 1, size, 0.975)};
  if (above + 1 == allowed) range = false_alarm_range(size, points.false_alarm);
  if (const auto kept = points.calibration_size; kept > 0 && kept < size) {
    const auto expected = static_cast<int64_t>(std::floor(points.false_alarm * static_cast<double>(kept + 1) + 1e-9));
    const auto k = std::max<int64_t>(expected, 1);
    range.low = std::min(range.low, beta_quantile(k, kept, 0.025));
    range.high = std::max(range.high, beta_quantile(k, kept, 0.975));
  }
  return range;
}

}  // namespace priornet
