#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/eval/tensor_span.h>
#include <priornet/experiments/model_comparison.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

torch::Tensor uncertainty_column(const SetScores& scores, std::string_view measure) {
  const auto* values = scores.find(measure);
  if (values == nullptr) throw ArgumentError(fmt::format("compare_detection: a model has no measure {}", measure));
  return uncertainty(measure, *values);
}

}  // namespace

std::vector<PairedAuroc> compare_detection(const Evaluation& first, std::string_view first_measure,
                                           const Evaluation& second, std::string_view second_measure) {
  const auto first_inside = uncertainty_column(first.inside_scores, first_measure);
  const auto second_inside = uncertainty_column(second.inside_scores, second_measure);
  std::vector<PairedAuroc> sets;
  for (size_t s = 0; s < first.outside_scores.size(); ++s) {
    const auto first_outside = uncertainty_column(first.outside_scores[s], first_measure);
    const auto second_outside = uncertainty_column(second.outside_scores.at(s), second_measure);
    sets.push_back(delong_paired(PairedScores{{span_of(first_outside), span_of(first_inside)},
                                              {span_of(second_outside), span_of(second_inside)}}));
  }
  return sets;
}

Estimate difference(const PairedAuroc& pair) {
  constexpr double kNormal = 1.959963984540054;
  const double value = pair.first - pair.second;
  const double variance = pair.first_variance + pair.second_variance - 2 * pair.covariance;
  const double margin = kNormal * std::sqrt(std::max(variance, 0.0));
  return {value, value - margin, value + margin};
}

}  // namespace priornet
