#include <priornet/eval/calibration.h>
#include <priornet/eval/measure_columns.h>
#include <priornet/eval/score_names.h>
#include <priornet/train/validation.h>

namespace priornet {
namespace {

using Means = std::vector<std::pair<std::string, double>>;

Means means_of(const torch::Tensor& logits, Method method) {
  Means means;
  for (const auto& [name, values] : gives_dirichlet(method) ? measure_columns(dirichlet_measures(logits))
                                                            : measure_columns(softmax_measures(logits)))
    if (is_score(name)) means.emplace_back(name, values.to(torch::kFloat64).mean().item<double>());
  return means;
}

}  // namespace

Validation validate(Network& network, const Dataset& set, const torch::Tensor& outside, Method method,
                    const InferenceOptions& options) {
  const auto logits = infer(network, set.inputs, options);
  const auto probabilities = expected_categorical(logits);
  const auto labels = set.labels.to(torch::kCPU);
  Validation result;
  result.error = error_rate(probabilities, labels);
  result.log_likelihood_loss = negative_log_likelihood(probabilities, labels);
  result.calibration_error = calibration_error(probabilities, labels);
  result.inside = means_of(logits, method);
  if (outside.defined() && outside.size(0) > 0) result.outside = means_of(infer(network, outside, options), method);
  return result;
}

}  // namespace priornet
