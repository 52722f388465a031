#include <priornet/core/autocast.h>
#include <priornet/data/transforms/additive_noise.h>
#include <priornet/data/transforms/pixels.h>
#include <priornet/dirichlet/ensembles.h>
#include <priornet/dirichlet/measures.h>
#include <priornet/eval/calibration.h>
#include <priornet/train/validation.h>

#include <algorithm>

namespace priornet {
namespace {

using Means = std::vector<std::pair<std::string, double>>;

Means means_of(const torch::Tensor& logits, Method method) {
  const auto mean = [](const torch::Tensor& values) { return values.to(torch::kFloat64).mean().item<double>(); };
  if (!gives_dirichlet(method)) {
    const auto measures = softmax_measures(logits);
    return {{"max_prob", mean(measures.max_prob)}, {"entropy", mean(measures.entropy)}};
  }
  const auto measures = dirichlet_measures(logits);
  return {{"max_prob", mean(measures.max_prob)},
          {"entropy", mean(measures.entropy)},
          {"expected_entropy", mean(measures.expected_entropy)},
          {"mutual_information", mean(measures.mutual_information)},
          {"differential_entropy", mean(measures.differential_entropy)},
          {"precision", mean(measures.precision)}};
}

}  // namespace

torch::Tensor infer(Network& network, const torch::Tensor& inputs, const InferenceOptions& options) {
  const torch::NoGradGuard no_gradient;
  const bool training = network.is_training();
  network.eval();
  const auto device = network.parameters().at(0).device();
  std::vector<torch::Tensor> parts;
  for (int64_t first = 0; first < inputs.size(0); first += options.batch) {
    auto batch = inputs.narrow(0, first, std::min(options.batch, inputs.size(0) - first)).to(device);
    if (batch.scalar_type() == torch::kUInt8) batch = to_unit_range(batch);
    if (options.noise > 0.0) batch = add_gaussian_noise(batch, {options.noise, options.seed, first});
    const Autocast autocast(options.bfloat16);
    parts.push_back(network.forward(batch).to(torch::kFloat32));
  }
  network.train(training);
  if (parts.empty()) return torch::empty({0, network.classes()});
  return torch::cat(parts).to(torch::kCPU);
}

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
