#include <priornet/core/errors.h>
#include <priornet/eval/delong.h>
#include <priornet/eval/roc.h>
#include <priornet/eval/tensor_span.h>
#include <priornet/experiments/uncertainty_parts.h>

namespace priornet {
namespace {

constexpr const char* kModelPart = "mutual_information_y_theta";

using PartScores = std::array<torch::Tensor, 3>;

PartScores split_scores(const SetScores& scores) {
  const auto* data = scores.find("expected_entropy");
  const auto* both = scores.find("mutual_information");
  const auto* model = scores.find(kModelPart);
  if (data == nullptr || both == nullptr || model == nullptr)
    throw ArgumentError("uncertainty_parts: the scores should be those of an ensemble of Dirichlets");
  return {data->contiguous(), (*both - *model).contiguous(), model->contiguous()};
}

}  // namespace

bool has_uncertainty_parts(const SetScores& scores) { return scores.find(kModelPart) != nullptr; }

std::vector<UncertaintyParts> uncertainty_parts(const SetScores& inside, const std::vector<SetScores>& outside) {
  const auto inside_scores = split_scores(inside);
  std::vector<UncertaintyParts> sets(1);
  for (size_t part = 0; part < 3; ++part) sets[0].mean[part] = inside_scores[part].mean().item<double>();
  for (const auto& scores : outside) {
    const auto outside_scores = split_scores(scores);
    auto& set = sets.emplace_back();
    for (size_t part = 0; part < 3; ++part) {
      const Ranking ranking({span_of(outside_scores[part]), span_of(inside_scores[part])});
      const auto interval = delong_interval(ranking);
      set.mean[part] = outside_scores[part].mean().item<double>();
      set.auroc[part] = {roc_metrics(ranking).auroc, interval.low, interval.high};
    }
  }
  return sets;
}

}  // namespace priornet
