#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/drift.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

constexpr double kLargestValue = 1e300;

/// Pays 1 - share + share * power * p^(power - 1), which is large if many p-values are small; its mean over [0, 1] is
/// 1. An input that shares its p-value with others gets the mean over their part of [0, 1].
struct Bet {
  double share;
  double power;
};
constexpr std::array<Bet, 6> kBetTable = {{{0.02, 0.1}, {0.1, 0.1}, {0.5, 0.1}, {0.02, 0.5}, {0.1, 0.5}, {0.5, 0.5}}};

/// The share of the stake that is not yet bet after this many inputs: it falls slowly, so that a drift that begins late
/// is still noticed soon.
double kept_back(int64_t inputs) { return 1.0 / std::log2(static_cast<double>(inputs) + 2.0); }

}  // namespace

DriftWatch::Ranks::Ranks(int64_t calibration_size)
    : tree_(static_cast<size_t>(calibration_size + 1)), total_(calibration_size + 1) {
  // If all counts are 1, a node's sum is the number of counts it covers.
  for (size_t i = 0; i < tree_.size(); ++i) tree_[i] = static_cast<int64_t>((i + 1) & (~(i + 1) + 1));
}

int64_t DriftWatch::Ranks::first(size_t count) const {
  int64_t sum = 0;
  for (size_t i = count; i > 0; i &= i - 1) sum += tree_[i - 1];
  return sum;
}

DriftWatch::Ranks::Shares DriftWatch::Ranks::add(int64_t p_value) {
  const auto at = static_cast<size_t>(p_value);
  const auto total = static_cast<double>(total_);
  const Shares shares{static_cast<double>(first(at - 1)) / total, static_cast<double>(first(at)) / total};
  for (size_t i = at; i <= tree_.size(); i += i & (~i + 1)) ++tree_[i - 1];
  ++total_;
  return shares;
}

DriftWatch::DriftWatch(const OperatingPoints& points, double rate) : rate_(rate) {
  static_assert(kBets == kBetTable.size());
  if (!(rate > 0.0 && rate < 1.0))
    throw ArgumentError(c10::str("DriftWatch: rate should be between 0 and 1, found ", rate));
  check_points(points);
  if (points.groups.empty()) ranks_.emplace_back(points.rarities.size(0));
  for (const auto& group : points.groups) {
    for (const auto one : group.classes) {
      group_of_class_.resize(std::max(group_of_class_.size(), static_cast<size_t>(one) + 1), kNoGroup);
      group_of_class_[static_cast<size_t>(one)] = ranks_.size();
    }
    ranks_.emplace_back(group.rarities.size(0));
  }
}

void DriftWatch::add(double p_value, int64_t predicted_class) {
  if (!group_of_class_.empty() &&
      (predicted_class < 0 || predicted_class >= static_cast<int64_t>(group_of_class_.size()) ||
       group_of_class_[static_cast<size_t>(predicted_class)] == kNoGroup))
    throw ArgumentError(c10::str("DriftWatch: class ", predicted_class, " is in none of the groups"));
  auto& ranks = ranks_[group_of_class_.empty() ? 0 : group_of_class_[static_cast<size_t>(predicted_class)]];
  const auto steps = p_value * static_cast<double>(ranks.size());
  const auto step = std::round(steps);
  if (!(std::abs(steps - step) < 1e-6) || step < 1.0 || step > static_cast<double>(ranks.size()))
    throw ArgumentError(c10::str("DriftWatch: ", p_value, " is not a p-value out of ", ranks.size() - 1, " inputs"));
  const auto [below, up_to] = ranks.add(static_cast<int64_t>(step));
  auto& [value, largest, inputs, alarm_input] = state_;
  const auto stake = (kept_back(inputs) - kept_back(inputs + 1)) / static_cast<double>(kBets);
  ++inputs;
  value = kept_back(inputs);
  for (size_t b = 0; b < kBets; ++b) {
    const auto [share, power] = kBetTable[b];
    const auto pays = 1.0 - share + share * (std::pow(up_to, power) - std::pow(below, power)) / (up_to - below);
    capital_[b] = std::min((capital_[b] + stake) * pays, kLargestValue / static_cast<double>(kBets));
    value += capital_[b];
  }
  largest = std::max(largest, value);
  if (alarm_input == 0 && value >= 1.0 / rate_) alarm_input = inputs;
}

}  // namespace priornet
