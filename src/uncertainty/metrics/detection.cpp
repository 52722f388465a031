#include <priornet/uncertainty/detection.h>

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "uncertainty/core/parallel.h"
#include "uncertainty/metrics/resampled_curves.h"

namespace priornet {
namespace {

void check_set(std::string_view function, std::string_view name, std::span<const double> scores) {
  if (scores.empty())
    throw ArgumentError(c10::str(function, ": ", name, " should hold at least one score, found none"));
  const auto nan = std::find_if(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
  if (nan != scores.end())
    throw ArgumentError(c10::str(function, ": ", name, "[", nan - scores.begin(), "] should be a number, found nan"));
}

}  // namespace

void check_scores(std::string_view function, const ScoreSets& scores) {
  check_set(function, "positive", scores.positive);
  check_set(function, "negative", scores.negative);
}

Ranking::Ranking(const ScoreSets& scores)
    : positives_(static_cast<int64_t>(scores.positive.size())),
      negatives_(static_cast<int64_t>(scores.negative.size())) {
  check_scores("Ranking", scores);
  std::vector<double> positive(scores.positive.begin(), scores.positive.end());
  std::vector<double> negative(scores.negative.begin(), scores.negative.end());
  const bool worth_a_thread = positives_ + negatives_ > 100000;
  parallel_for(0, 2, worth_a_thread ? 1 : 2, [&](int64_t begin, int64_t end) {
    if (begin == 0) std::sort(positive.begin(), positive.end(), std::greater<>());
    if (end == 2) std::sort(negative.begin(), negative.end(), std::greater<>());
  });

  order_.reserve(positive.size() + negative.size());
  auto p = positive.begin();
  auto n = negative.begin();
  while (p != positive.end() || n != negative.end()) {
    const double score = n == negative.end() || (p != positive.end() && *p >= *n) ? *p : *n;
    for (; p != positive.end() && *p == score; ++p) order_.push_back(kPositive);
    for (; n != negative.end() && *n == score; ++n) order_.push_back(0);
    order_.back() |= kEndOfGroup;
  }
}

double auroc(const Ranking& ranking) {
  // Twice the number of pairs in the right order, ties counting half: whole numbers, so no rounding.
  uint64_t twice = 0;
  uint64_t positives_above = 0;
  ranking.for_each_group([&](int64_t positives, int64_t negatives) {
    const auto p = static_cast<uint64_t>(positives);
    twice += static_cast<uint64_t>(negatives) * (2 * positives_above + p);
    positives_above += p;
  });
  return static_cast<double>(twice) / 2.0 / static_cast<double>(ranking.positives()) /
         static_cast<double>(ranking.negatives());
}

RocMetrics roc_metrics(const Ranking& ranking) {
  CurveWalk walk(ranking, {ranking.positives(), ranking.negatives()});
  std::array<uint8_t, 4096> ones;
  ones.fill(1);
  const auto order = ranking.order();
  for (size_t i = 0; i < order.size(); i += ones.size())
    walk.add(order.subspan(i, std::min(ones.size(), order.size() - i)), ones.data());
  return {.auroc = auroc(ranking),
          .aupr = walk.aupr(),
          .aupr_balanced = walk.aupr_balanced(),
          .average_precision = walk.average_precision(),
          .fpr95 = walk.fpr95(),
          .prevalence = static_cast<double>(ranking.positives()) / static_cast<double>(order.size())};
}

RocMetrics roc_metrics(const ScoreSets& scores) { return roc_metrics(Ranking(scores)); }

namespace {

struct Components {
  std::vector<double> positive;
  std::vector<double> negative;
  double auroc = 0;  // the mean of either
};

// The components of every score, in the order the scores came in.
Components components(const ScoreSets& scores) {
  struct Item {
    double score;
    size_t index;
  };
  const auto positives = scores.positive.size();
  const auto negatives = scores.negative.size();
  std::vector<Item> items;
  items.reserve(positives + negatives);
  for (const double score : scores.positive) items.push_back({score, items.size()});
  for (const double score : scores.negative) items.push_back({score, items.size()});
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.score < b.score; });

  Components result{std::vector<double>(positives), std::vector<double>(negatives)};
  // Counted as in auroc(), without rounding: two scores may differ in a single pair of many.
  uint64_t twice = 0;
  size_t positives_below = 0;
  for (size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    size_t positives_here = 0;
    for (end = begin; end < items.size() && items[end].score == items[begin].score; ++end)
      positives_here += items[end].index < positives ? 1 : 0;
    const auto negatives_here = static_cast<double>(end - begin - positives_here);
    const auto negatives_below = static_cast<double>(begin - positives_below);
    const auto positives_above = static_cast<double>(positives - positives_below - positives_here);
    const double of_positive = (negatives_below + negatives_here / 2) / static_cast<double>(negatives);
    const double of_negative =
        (positives_above + static_cast<double>(positives_here) / 2) / static_cast<double>(positives);
    for (size_t i = begin; i < end; ++i) {
      const auto index = items[i].index;
      if (index < positives) {
        result.positive[index] = of_positive;
      } else {
        result.negative[index - positives] = of_negative;
      }
    }
    twice += positives_here * (2 * (begin - positives_below) + (end - begin - positives_here));
    positives_below += positives_here;
  }
  result.auroc = static_cast<double>(twice) / 2.0 / static_cast<double>(positives) / static_cast<double>(negatives);
  return result;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The sample variance over the length. Components are multiples of 1/P or 1/N with a rounding error each; what is no
// more than these errors is 0. Sums are of distances from the first, so that equal values have no variance.
double variance_of_mean(const std::vector<double>& values) {
  constexpr double kRounding = 0x1p-50;
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value - values[0];
  const double middle = sum / n;
  double squares = 0;
  for (const double value : values) squares += std::pow(value - values[0] - middle, 2);
  return squares <= n * kRounding * kRounding ? 0 : squares / (n - 1) / n;
}

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::minus<>());
  return result;
}

// The sample covariance of two columns over their length: the covariance of their means.
double covariance_of_means(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  const auto n = static_cast<double>(a.size());
  return sum / (n - 1) / n;
}

double covariance(const Components& a, const Components& b) {
  return covariance_of_means(a.positive, b.positive) + covariance_of_means(a.negative, b.negative);
}

void check_pair(const char* name, size_t first, size_t second) {
  if (first != second || first < 2)
    throw ArgumentError(c10::str("delong_paired: ", name,
                                 " should hold the same inputs, at least 2, for both scores, found ", first, " and ",
                                 second));
}

PairedAuroc tested(PairedAuroc result) {
  const double difference = result.first - result.second;
  if (difference == 0) return result;  // also where both scores separate completely and the variance is 0
  if (result.difference_variance == 0) {
    result.z = result.p_value = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  result.z = difference / std::sqrt(result.difference_variance);
  result.p_value = std::erfc(std::abs(result.z) / std::sqrt(2.0));
  return result;
}

struct Contributions {
  double auroc;
  std::vector<double> values;  // in the order of the inputs
  double largest_scale;        // of a distance from AUROC
};

Contributions contributions(const MarkedScores& marked) {
  if (marked.scores.size() != marked.positive.size())
    throw ArgumentError(c10::str("delong_paired: each score should have a mark, found ", marked.scores.size(),
                                 " scores and ", marked.positive.size(), " marks"));
  std::vector<double> sets[2];
  for (size_t i = 0; i < marked.scores.size(); ++i) sets[marked.positive[i] != 0].push_back(marked.scores[i]);
  const ScoreSets scores{.positive = sets[1], .negative = sets[0]};
  check_scores("delong_paired", scores);
  check_pair("positive", sets[1].size(), sets[1].size());
  check_pair("negative", sets[0].size(), sets[0].size());
  const auto parts = components(scores);
  const auto scale = [](size_t count) { return 1 / std::sqrt(static_cast<double>(count * (count - 1))); };
  const double scales[2] = {scale(sets[0].size()), scale(sets[1].size())};
  Contributions result{parts.auroc, {}, std::max(scales[0], scales[1])};
  size_t next[2] = {0, 0};
  for (const auto mark : marked.positive) {
    const bool positive = mark != 0;
    const auto& values = positive ? parts.positive : parts.negative;
    result.values.push_back(scales[positive] * (values[next[positive]++] - result.auroc));
  }
  return result;
}

}  // namespace

double delong_variance(const Ranking& ranking) {
  const auto p = static_cast<double>(ranking.positives());
  const auto n = static_cast<double>(ranking.negatives());
  if (p < 2 || n < 2) return std::numeric_limits<double>::quiet_NaN();
  const double area = auroc(ranking);
  double positives_above = 0;
  double negatives_above = 0;
  double of_positives = 0;
  double of_negatives = 0;
  ranking.for_each_group([&](int64_t positives, int64_t negatives) {
    const auto positives_here = static_cast<double>(positives);
    const auto negatives_here = static_cast<double>(negatives);
    const double positive = (n - negatives_above - negatives_here / 2) / n - area;
    const double negative = (positives_above + positives_here / 2) / p - area;
    of_positives += positives_here * positive * positive;
    of_negatives += negatives_here * negative * negative;
    positives_above += positives_here;
    negatives_above += negatives_here;
  });
  return of_positives / (p - 1) / p + of_negatives / (n - 1) / n;
}

Interval delong_interval(const Ranking& ranking) {
  const double variance = delong_variance(ranking);
  if (std::isnan(variance)) return {0, 1};
  const double area = auroc(ranking);
  if (variance == 0) {
    const double bound = std::pow(0.05, 1.0 / static_cast<double>(std::min(ranking.positives(), ranking.negatives())));
    if (area == 1) return {bound, 1};
    if (area == 0) return {0, 1 - bound};
    return {bound / 2, 1 - bound / 2};
  }
  const double factor = std::exp(kNormal975 * std::sqrt(variance) / (area * (1 - area)));
  const double against = (1 - area) / area;
  return {1 / (1 + against * factor), 1 / (1 + against / factor)};
}

PairedAuroc delong_paired(const PairedScores& scores) {
  check_scores("delong_paired: first", scores.first);
  check_scores("delong_paired: second", scores.second);
  check_pair("positive", scores.first.positive.size(), scores.second.positive.size());
  check_pair("negative", scores.first.negative.size(), scores.second.negative.size());
  const auto first = components(scores.first);
  const auto second = components(scores.second);
  return tested({.first = first.auroc,
                 .second = second.auroc,
                 .first_variance = covariance(first, first),
                 .second_variance = covariance(second, second),
                 .covariance = covariance(first, second),
                 .difference_variance = variance_of_mean(differences(first.positive, second.positive)) +
                                        variance_of_mean(differences(first.negative, second.negative))});
}

PairedAuroc delong_paired(const MarkedScores& first, const MarkedScores& second) {
  const auto of_first = contributions(first);
  const auto of_second = contributions(second);
  check_pair("scores", first.scores.size(), second.scores.size());
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const auto apart = differences(of_first.values, of_second.values);
  const double squares = product(apart, apart);
  // Each contribution is rounded by 2^-53 of 1 / (n - 1), n the size of its set: squares of no more are no variance.
  const double rounding = 0x1p-50 * std::max(of_first.largest_scale, of_second.largest_scale);
  const double least = static_cast<double>(apart.size()) * rounding * rounding;
  return tested({.first = of_first.auroc,
                 .second = of_second.auroc,
                 .first_variance = product(of_first.values, of_first.values),
                 .second_variance = product(of_second.values, of_second.values),
                 .covariance = product(of_first.values, of_second.values),
                 .difference_variance = squares <= least ? 0 : squares});
}

int64_t default_replicates(const Ranking& ranking) { return ranking.order().size() > 1000000 ? 200 : 1000; }

BootstrapIntervals bootstrap_intervals(const Ranking& ranking, const BootstrapOptions& options) {
  const auto count = options.replicates.value_or(default_replicates(ranking));
  if (count < 2) throw ArgumentError(c10::str("bootstrap_intervals: replicates should be at least 2, found ", count));
  const auto size = static_cast<size_t>(count);
  std::vector<double> aupr(size);
  std::vector<double> aupr_balanced(size);
  std::vector<double> average_precision(size);
  std::vector<double> fpr95(size);

  const Resampler resampler(ranking, options.seed);
  parallel_each(count, static_cast<int64_t>(ranking.order().size()), [&](int64_t i) {
    Resampler::Replicate replicate(resampler, i);
    CurveWalk walk(ranking, replicate.totals());
    for (int64_t block = 0; block < resampler.blocks(); ++block)
      walk.add(resampler.order(block), replicate.weights(block));
    const auto at = static_cast<size_t>(i);
    aupr[at] = walk.aupr();
    aupr_balanced[at] = walk.aupr_balanced();
    average_precision[at] = walk.average_precision();
    fpr95[at] = walk.fpr95();
  });
  return {percentiles(aupr), percentiles(aupr_balanced), percentiles(average_precision), percentiles(fpr95)};
}

namespace {

Estimate with(double value, const Interval& interval) { return {value, interval.low, interval.high}; }

}  // namespace

Detection detect(const ScoreSets& scores, const BootstrapOptions& options) {
  check_scores("detect", scores);
  const Ranking ranking(scores);
  const auto metrics = roc_metrics(ranking);
  const auto intervals = bootstrap_intervals(ranking, options);
  return {.auroc = with(metrics.auroc, delong_interval(ranking)),
          .auroc_error = std::sqrt(delong_variance(ranking)),
          .aupr = with(metrics.aupr, intervals.aupr),
          .aupr_balanced = with(metrics.aupr_balanced, intervals.aupr_balanced),
          .average_precision = with(metrics.average_precision, intervals.average_precision),
          .fpr95 = with(metrics.fpr95, intervals.fpr95),
          .positives = ranking.positives(),
          .negatives = ranking.negatives(),
          .prevalence = metrics.prevalence,
          .replicates = options.replicates.value_or(default_replicates(ranking))};
}

}  // namespace priornet
