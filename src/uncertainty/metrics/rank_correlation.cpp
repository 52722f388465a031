#include <priornet/uncertainty/rank_correlation.h>

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "uncertainty/core/parallel.h"
#include "uncertainty/metrics/resampled_curves.h"

namespace priornet {
namespace {

void check(const char* function, std::span<const double> first, std::span<const double> second) {
  if (first.size() < 2 || first.size() != second.size())
    throw ArgumentError(c10::str(function, ": first and second should have the same length, at least 2, found ",
                                 first.size(), " and ", second.size()));
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (std::any_of(first.begin(), first.end(), is_nan) || std::any_of(second.begin(), second.end(), is_nan))
    throw ArgumentError(c10::str(function, ": first and second should be numbers, found nan"));
}

/// The groups of rows that tie, in rising order: ranks need nothing else, also if rows are drawn several times.
class TiedGroups {
 public:
  explicit TiedGroups(std::span<const double> values) : group_of_(values.size()) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || values[order[i]] != values[order[i - 1]]) ++groups_;
      group_of_[order[i]] = groups_ - 1;
    }
  }

  size_t operator[](size_t row) const { return group_of_[row]; }

  /// The rank that the rows of each group share, less the mean of all ranks.
  std::vector<double> ranks(std::span<const uint8_t> counts) const {
    std::vector<double> ranks(groups_, 0.0);
    double total = 0.0, below = 0.0;
    for (size_t row = 0; row < counts.size(); ++row) {
      ranks[group_of_[row]] += counts[row];
      total += counts[row];
    }
    for (auto& rank : ranks) {
      const double size = rank;
      rank = below + (size - total) / 2;
      below += size;
    }
    return ranks;
  }

 private:
  std::vector<size_t> group_of_;
  size_t groups_ = 0;
};

/// For rows that are drawn this often each.
double correlation(const TiedGroups& first, const TiedGroups& second, std::span<const uint8_t> counts) {
  const auto first_ranks = first.ranks(counts);
  const auto second_ranks = second.ranks(counts);
  double product = 0.0, first_square = 0.0, second_square = 0.0;
  for (size_t row = 0; row < counts.size(); ++row) {
    const double a = first_ranks[first[row]], b = second_ranks[second[row]];
    product += counts[row] * a * b;
    first_square += counts[row] * a * a;
    second_square += counts[row] * b * b;
  }
  if (first_square == 0.0 || second_square == 0.0) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp(product / std::sqrt(first_square * second_square), -1.0, 1.0);
}

}  // namespace

double spearman(std::span<const double> first, std::span<const double> second) {
  check("spearman", first, second);
  return correlation(TiedGroups(first), TiedGroups(second), std::vector<uint8_t>(first.size(), 1));
}

Estimate spearman_estimate(std::span<const double> first, std::span<const double> second,
                           const BootstrapOptions& options) {
  check("spearman_estimate", first, second);
  const auto count = options.replicates.value_or(1000);
  if (count < 2) throw ArgumentError(c10::str("spearman_estimate: replicates should be at least 2, found ", count));
  const TiedGroups first_groups(first), second_groups(second);
  std::vector<double> replicates(static_cast<size_t>(count));
  parallel_each(count, static_cast<int64_t>(first.size()), [&](int64_t i) {
    std::vector<uint8_t> counts(first.size());
    draw_with_replacement(options.seed, i, counts);
    const double drawn = correlation(first_groups, second_groups, counts);
    replicates[static_cast<size_t>(i)] = std::isnan(drawn) ? 0.0 : drawn;
  });
  const auto interval = percentiles(replicates);
  return {correlation(first_groups, second_groups, std::vector<uint8_t>(first.size(), 1)), interval.low, interval.high};
}

}  // namespace priornet
