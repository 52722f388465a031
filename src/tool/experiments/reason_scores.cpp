#include "tool/experiments/reason_scores.h"

#include <fmt/format.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <priornet/uncertainty/rank_correlation.h>

#include <cmath>

#include "uncertainty/core/checks.h"

namespace priornet {

torch::Tensor label_entropy(const torch::Tensor& counts) {
  check_rank("label_entropy", "counts", counts, 2);
  const auto exact = counts.to(torch::kFloat64);
  const auto shares = exact / exact.sum(1, true);
  return -torch::xlogy(shares, shares).sum(1);
}

std::vector<PeopleCorrelation> correlate_with_people(const SetScores& scores, const torch::Tensor& entropy,
                                                     const BootstrapOptions& options) {
  std::vector<PeopleCorrelation> correlations;
  for (const auto measure : kReasonMeasures) {
    const auto* values = scores.find(measure);
    if (values == nullptr) continue;
    correlations.push_back(
        {std::string(measure), spearman_estimate(span_of(values->contiguous()), span_of(entropy), options)});
  }
  return correlations;
}

std::vector<RowGroup> groups_by_agreement(const torch::Tensor& entropy) {
  // An entropy that is 0 on paper, or ln 2, may come out a rounding error beside it.
  constexpr double kRounding = 1e-9;
  const auto clear = entropy <= kRounding, torn = entropy > std::log(2.0) + kRounding;
  const auto rows = [](const torch::Tensor& chosen) { return chosen.nonzero().squeeze(1); };
  return {{"all people agree", rows(clear)},
          {"some people differ", rows(clear.logical_or(torn).logical_not())},
          {"people are torn", rows(torn)},
          {"all test images", torch::arange(entropy.size(0), torch::kInt64)}};
}

namespace {

using Watched = std::vector<std::pair<Verdict, std::string>>;

Watched watched_by(const SetScores& scores) {
  const bool dirichlet = scores.find("differential_entropy") != nullptr;
  const auto* several = dirichlet ? scores.find("mutual_information_y_theta") : scores.find("mutual_information");
  return watched_measures(dirichlet, several != nullptr);
}

/// What calibration looks at.
Predictions predictions_of(const SetScores& scores, const torch::Tensor& rows) {
  Predictions said;
  said.prediction = scores.probabilities.index_select(0, rows).argmax(1);
  for (const auto& column : scores.columns) said.scores.push_back({column.name, column.values.index_select(0, rows)});
  return said;
}

std::vector<Decision> decisions_of(const OperatingPoints& points, const SetScores& scores, const torch::Tensor& rows) {
  std::vector<torch::Tensor> values;
  for (const auto& watch : points.watches) values.push_back(scores.find(watch.measure)->index_select(0, rows));
  return decide(points, values);
}

void count(const std::vector<Decision>& decisions, double weight, VerdictShares& shares) {
  for (const auto& decision : decisions) shares.shares[static_cast<size_t>(decision.verdict)] += weight;
}

}  // namespace

std::vector<VerdictShares> verdict_shares(const SetScores& inside, const std::vector<RowGroup>& groups,
                                          const std::vector<UnfamiliarSet>& outside, const VerdictOptions& options) {
  check_range("verdict_shares", "folds", options.folds >= 2, "at least 2", static_cast<double>(options.folds));
  const auto size = inside.probabilities.size(0);
  const auto watched = watched_by(inside);
  auto generator = make_generator(derive_seed(options.seed, "folds of verdicts"));
  const auto shuffled = torch::randperm(size, generator, torch::kInt64);
  std::vector<Decision> of_inside(static_cast<size_t>(size));
  std::vector<VerdictShares> of_outside;
  for (const auto& set : outside) of_outside.push_back({set.title, set.scores->probabilities.size(0), {}});
  for (int64_t fold = 0; fold < options.folds; ++fold) {
    const auto first = fold * size / options.folds, last = (fold + 1) * size / options.folds;
    const auto held_out = shuffled.narrow(0, first, last - first);
    const auto others = torch::cat({shuffled.narrow(0, 0, first), shuffled.narrow(0, last, size - last)});
    CalibrationOptions calibration;
    calibration.false_alarm = options.false_alarm;
    calibration.seed = options.seed;
    const auto points = calibrate(predictions_of(inside, others), {}, watched, calibration);
    const auto decisions = decisions_of(points, inside, held_out);
    for (int64_t i = 0; i < held_out.size(0); ++i)
      of_inside[static_cast<size_t>(held_out[i].item<int64_t>())] = decisions[static_cast<size_t>(i)];
    for (size_t s = 0; s < outside.size(); ++s) {
      const auto all = torch::arange(of_outside[s].images, torch::kInt64);
      const auto weight = 1.0 / static_cast<double>(options.folds * of_outside[s].images);
      count(decisions_of(points, *outside[s].scores, all), weight, of_outside[s]);
    }
  }
  std::vector<VerdictShares> all;
  for (const auto& group : groups) {
    auto& shares = all.emplace_back(VerdictShares{group.title, group.rows.size(0), {}});
    for (int64_t i = 0; i < shares.images; ++i)
      count({of_inside[static_cast<size_t>(group.rows[i].item<int64_t>())]}, 1.0 / static_cast<double>(shares.images),
            shares);
  }
  all.insert(all.end(), of_outside.begin(), of_outside.end());
  return all;
}

Estimate mean_estimate(const torch::Tensor& values) {
  constexpr double kNormal = 1.959963984540054;
  const double mean = values.mean().item<double>();
  const double margin = kNormal * std::sqrt(values.var().item<double>() / static_cast<double>(values.numel()));
  return {mean, mean - margin, mean + margin};
}

}  // namespace priornet
