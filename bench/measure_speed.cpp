#include <priornet/uncertainty/measure_table.h>
#include <priornet/uncertainty/measures.h>

#include <algorithm>

#include "timing.h"

namespace priornet::bench {
namespace {

/// The measures of a Dirichlet, beside the prediction.
int64_t count_measures() {
  const auto& table = measure_table();
  return std::count_if(table.begin(), table.end(), [](const Measure& measure) {
    return measure.dirichlet != nullptr && measure.dirichlet != &DirichletMeasures::prediction;
  });
}

/// The textbook formulas, as one would write them with LibTorch.
DirichletMeasures plain_measures(const torch::Tensor& logits) {
  const auto alpha = logits.exp();
  const auto alpha0 = alpha.sum(1, true);
  const auto p = alpha / alpha0;
  const auto [max_prob, prediction] = p.max(1);
  const auto entropy = -(p * p.log()).sum(1);
  const auto expected_entropy = -(p * (torch::digamma(alpha + 1) - torch::digamma(alpha0 + 1))).sum(1);
  const auto differential_entropy = torch::lgamma(alpha).sum(1) - torch::lgamma(alpha0).squeeze(1) -
                                    ((alpha - 1) * (torch::digamma(alpha) - torch::digamma(alpha0))).sum(1);
  const auto variance = 1 - p.square().sum(1);
  DirichletMeasures measures;
  measures.prediction = prediction;
  measures.max_prob = max_prob;
  measures.entropy = entropy;
  measures.expected_entropy = expected_entropy;
  measures.mutual_information = entropy - expected_entropy;
  measures.differential_entropy = differential_entropy;
  measures.precision = alpha0.squeeze(1);
  measures.expected_pairwise_kl = static_cast<double>(logits.size(1) - 1) / measures.precision;
  measures.epistemic_variance = variance / (measures.precision + 1);
  measures.aleatoric_variance = variance * measures.precision / (measures.precision + 1);
  return measures;
}

}  // namespace

void compare_measures(const Options& options, const Report& report) {
  const torch::NoGradGuard no_grad;
  for (const auto& [dtype, name] : {std::pair{torch::kFloat32, "float32"}, {torch::kFloat64, "float64"}}) {
    for (const int64_t classes : options.classes) {
      const auto logits = example_logits(classes, dtype, options.device);
      with_thread_counts(options.device, [&, name = name](int threads) {
        auto line = compare(
            {"all measures", name, classes, threads, 0, 0}, logits.size(0), options,
            [&] { dirichlet_measures(logits); }, [&] { plain_measures(logits); });
        line.bytes_per_row =
            static_cast<double>((classes + count_measures()) * logits.element_size() + sizeof(int64_t));
        report(line);
      });
    }
  }
}

}  // namespace priornet::bench
