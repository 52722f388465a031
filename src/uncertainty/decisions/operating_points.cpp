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

/// The `training_values` of the first watch that has any, or an undefined tensor.
torch::Tensor training_values_of(const std::vector<WatchedValues>& watched) {
  for (const auto& one : watched)
    if (one.training_values.defined()) return one.training_values;
  return {};
}

void check_watched(const std::vector<WatchedValues>& watched) {
  if (watched.empty())
    throw ArgumentError("operating_points: should be given at least one measure to watch, found none");
  const auto& first = watched.front().values;
  const auto of_training = training_values_of(watched);
  for (const auto& one : watched) {
    check_values(one.measure, one.values, first, "N");
    if (one.training_values.defined()) check_values(one.measure, one.training_values, of_training, "T");
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
  torch::Tensor rarities;
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
  result.rarities = std::get<0>(rarest.sort()).contiguous();
  return result;
}

/// What m values of a measure say about how large a new one may be.
class FewValues {
 public:
  explicit FewValues(const torch::Tensor& values)
      : sorted_(std::get<0>(values.cpu().sort()).contiguous()), size_(values.size(0)) {}

  /// A number that a new value exceeds with a probability of at most `share`. By rank where there are enough values;
  /// else above them all, which needs a tail that falls at least as fast as exp(-sqrt(v)) (docs/math.md, section 10).
  double exceeded_by(double share) const {
    const auto* sorted = sorted_.data_ptr<double>();
    const auto rank = static_cast<int64_t>(share * static_cast<double>(size_ + 1) + 1e-9);
    if (rank > 0) return sorted[size_ - std::min(rank, size_)];
    const auto largest = sorted[size_ - 1];
    const auto median = sorted[(size_ - 1) / 2];
    const auto spread = std::max(largest - median, 1e-9 * std::max(1.0, std::abs(largest)));
    double low = 0.0;
    double high = kFarthest;
    while (high - low > 1e-9 * high) {
      const auto middle = (low + high) / 2;
      (share_beyond(middle) > share ? low : high) = middle;
    }
    return median + spread * (1.0 + high) * (1.0 + high);
  }

 private:
  static constexpr double kFarthest = 1e6;

  /// P(a new exponential number is above the largest of m by `reach` times the distance from their median to the
  /// largest): the gaps between sorted exponential numbers are independent.
  double share_beyond(double reach) const {
    const auto above_median = size_ / 2;
    auto share = static_cast<double>(above_median + 1) / static_cast<double>(size_ + 1);
    for (int64_t r = 1; r <= above_median; ++r) share *= static_cast<double>(r) / (static_cast<double>(r + 1) + reach);
    return share;
  }

  torch::Tensor sorted_;
  int64_t size_;
};

/// How the rate is divided: of the `allowed` ranks of N + T inputs, `columns` are for watches with `training_values`;
/// measures get the share that is left. Bonferroni's inequality: together they reject at most the rate.
struct DividedRate {
  DividedRate(double rate, int64_t size, bool measures) {
    const auto ranks = rate * static_cast<double>(size + 1);
    allowed = std::max<int64_t>(static_cast<int64_t>(ranks + 1e-9), 1);
    columns = measures ? std::min(allowed, static_cast<int64_t>(std::lround(kOfColumns * ranks))) : allowed;
    columns = std::max<int64_t>(columns, 1);
    left = std::max(0.0, rate - static_cast<double>(columns) / static_cast<double>(size + 1));
  }

  /// The smallest number of all ranks of which at least `ranks` belong to the columns.
  int64_t in_all(int64_t ranks) const { return (ranks * allowed + columns - 1) / columns; }

  static constexpr double kOfColumns = 0.85;
  int64_t allowed;
  int64_t columns;
  double left;
};

/// Rarities of inputs, each repeated so that an input that only j of them reach gets the p-value in_all(j + 1) / (C +
/// 1). The first are above everything, and the least rare are dropped: as many remain.
torch::Tensor divided(const torch::Tensor& rarities, const DividedRate& rate) {
  constexpr double kAboveAll = 1e300;
  const auto size = rarities.size(0);
  const auto* ascending = rarities.data_ptr<double>();
  auto result = torch::full({size}, kAboveAll, torch::kFloat64);
  auto* of = result.data_ptr<double>();
  for (int64_t j = 1; j <= size; ++j)
    for (auto at = rate.in_all(j); at < rate.in_all(j + 1) && at <= size; ++at) of[size - at] = ascending[size - j];
  return result;
}

/// A watch of a measure that few inputs have. A value that a new input exceeds with the probability p * share gets at
/// most the rarity that belongs to the p-value p in `rarities`.
Watch measure_watch(const WatchedValues& watched, const torch::Tensor& rarities, double share) {
  constexpr int64_t kPerInput = 4;  // so that no rank of `rarities` is passed over
  const FewValues values(watched.values);
  const auto size = rarities.size(0);
  const auto* ascending = rarities.data_ptr<double>();
  const auto threshold = [&](double rarity) {
    const auto rarer = ascending + size - std::lower_bound(ascending, ascending + size, rarity - kTie);
    return values.exceeded_by(std::min(1.0, share * static_cast<double>(1 + rarer) / static_cast<double>(size + 1)));
  };
  const auto count = kPerInput * size;
  Watch watch{watched.cause, watched.measure, torch::empty({count}, torch::kFloat64)};
  auto* reference = watch.reference.data_ptr<double>();
  for (int64_t i = 0; i < count; ++i) reference[i] = threshold(static_cast<double>(i + 1) / static_cast<double>(count));
  // Above the reference rarities grow along a line: it begins so far up that it is below every rarity of `rarities`
  // where that is reached.
  const auto middle = reference[count / 2];
  auto& last = reference[count - 1];
  for (int64_t i = 0; i < size; ++i)
    if (ascending[i] > 1.0)
      last = std::max(last, middle + (threshold(ascending[i] + 2 * kTie) - middle) / ascending[i]);
  return watch;
}

/// The same as joined() for watches with `training_values`: all N + T inputs calibrate those as if all had been held
/// out. The other watches are known for the N alone, and get a part of the rate for themselves.
Joined cross_joined(const std::vector<WatchedValues>& watched, int64_t training, double false_alarm) {
  const auto size = watched.front().values.size(0) + training;
  std::vector<WatchedValues> columns;
  for (const auto& one : watched)
    if (one.training_values.defined())
      columns.push_back({one.cause, one.measure, torch::cat({one.values.cpu(), one.training_values.cpu()})});
  const auto measures = watched.size() - columns.size();
  const DividedRate rate(false_alarm, size, measures > 0);
  auto of_columns = joined(columns, {});
  Joined result = {{}, divided(of_columns.rarities, rate)};
  // Of every p-value, the part that each measure gets of the chosen one.
  const auto share = rate.left * static_cast<double>(size + 1) /
                     (static_cast<double>(rate.allowed) * static_cast<double>(std::max<size_t>(measures, 1)));
  auto column = of_columns.watches.begin();
  for (const auto& one : watched)
    result.watches.push_back(one.training_values.defined() ? std::move(*column++)
                                                           : measure_watch(one, result.rarities, share));
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
    auto [watches, rarities] = joined(watched, rows);
    groups.push_back({sharing, {{one}, std::move(watches), std::move(rarities)}});
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
  const auto of_training = training_values_of(watched);
  if (of_training.defined() && predicted.of_inputs.defined())
    throw ArgumentError("operating_points: classes have no thresholds of their own where watches have training values");
  auto [watches, rarities] =
      of_training.defined() ? cross_joined(watched, of_training.size(0), false_alarm) : joined(watched, {});
  points.watches = std::move(watches);
  points.rarities = std::move(rarities);
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

double lowest_share(int64_t ranks, int64_t size) { return ranks < 1 ? 0.0 : beta_quantile(ranks, size, 0.025); }

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
  const auto size = points.rarities.size(0);
  const auto level = rejection_level(points);
  if (std::isinf(level)) return {};
  const auto allowed = static_cast<int64_t>(std::floor(points.false_alarm * static_cast<double>(size + 1) + 1e-9));
  const auto above = points.rarities.gt(level + kTie).sum().item<int64_t>();
  FalseAlarmRange range = {static_cast<double>(above + 1) / static_cast<double>(size + 1),
                           above == 0 ? 0.0 : beta_quantile(above, size, 0.025), beta_quantile(above + 1, size, 0.975)};
  if (above + 1 == allowed) range = false_alarm_range(size, points.false_alarm);
  // With several watches, inputs that are the rarest in different watches share the ranks: fewer may be rejected.
  const auto shared = static_cast<int64_t>(points.watches.size()) - 1;
  if (shared > 0) range.low = above + 1 > shared ? std::min(range.low, lowest_share(above + 1 - shared, size)) : 0.0;
  if (const auto kept = points.calibration_size; kept > 0 && kept < size) {
    const auto expected = static_cast<int64_t>(std::floor(points.false_alarm * static_cast<double>(kept + 1) + 1e-9));
    const auto k = std::max<int64_t>(expected, 1);
    range.low = std::min(range.low, lowest_share(k - std::max<int64_t>(shared, 0), kept));
    range.high = std::max(range.high, beta_quantile(k, kept, 0.975));
  }
  return range;
}

}  // namespace priornet
