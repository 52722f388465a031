#include <priornet/uncertainty/measures.h>

#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "uncertainty/core/checks.h"
#include "uncertainty/core/once_differentiable.h"
#include "uncertainty/dirichlet/measure_batch.h"

namespace priornet {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

class MeasuresFunction : public torch::autograd::Function<MeasuresFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const torch::Tensor& input) {
    const auto logits = input.detach().contiguous();
    auto measures = batch_measures(logits);
    context->save_for_backward({logits});
    keep_inputs(context, "dirichlet_measures", {input});
    context->mark_non_differentiable({measures.back()});
    return measures;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& outputs) {
    return differentiable_once(context, {batch_measures_gradient(context->get_saved_variables()[0], outputs)}, outputs);
  }
};

DirichletMeasures measures_of(std::string_view function, const torch::Tensor& logits) {
  check_logits(function, "logits", logits);
  if (!at::GradMode::is_enabled() || !logits.requires_grad()) return named_measures(batch_measures(logits));
  return named_measures(MeasuresFunction::apply(logits));
}

}  // namespace

DirichletMeasures dirichlet_measures(const torch::Tensor& logits) { return measures_of("dirichlet_measures", logits); }

torch::Tensor expected_categorical(const torch::Tensor& logits) {
  check_logits("expected_categorical", "logits", logits);
  return torch::softmax(logits, 1);
}

torch::Tensor max_probability(const torch::Tensor& logits) { return measures_of("max_probability", logits).max_prob; }

torch::Tensor entropy(const torch::Tensor& logits) { return measures_of("entropy", logits).entropy; }

torch::Tensor expected_entropy(const torch::Tensor& logits) {
  return measures_of("expected_entropy", logits).expected_entropy;
}

torch::Tensor mutual_information(const torch::Tensor& logits) {
  return measures_of("mutual_information", logits).mutual_information;
}

torch::Tensor differential_entropy(const torch::Tensor& logits) {
  return measures_of("differential_entropy", logits).differential_entropy;
}

torch::Tensor precision(const torch::Tensor& logits) { return measures_of("precision", logits).precision; }

// Ensembles are composed of tensor operations in float64, which keeps the promises of measures.h for float32 too; the
// costly parts (Dirichlet measures, divergences, densities, draws) are separate kernels.

namespace {

/// In the dtype asked for; values beyond its range become its largest finite number.
torch::Tensor saturated(const torch::Tensor& values, torch::Dtype dtype) {
  if (dtype == torch::kFloat64 || !values.defined()) return values;
  constexpr double kLargest = std::numeric_limits<float>::max();
  return values.clamp(-kLargest, kLargest).to(dtype);
}

/// ln softmax, never minus infinity, which would give NaN times a probability of 0: logits may be further apart than a
/// double reaches.
torch::Tensor log_categorical(const torch::Tensor& logits) {
  constexpr double kLowest = -std::numeric_limits<double>::max() / 4;
  return torch::log_softmax(logits.to(torch::kFloat64), 2).clamp_min(kLowest);
}

/// The mean over members of their categoricals, and what follows from it.
struct MeanCategorical {
  torch::Tensor log_members;  ///< [M, N, K]
  torch::Tensor log_mean;     ///< [N, K]
  torch::Tensor max_prob, prediction, entropy;

  explicit MeanCategorical(const torch::Tensor& logits)
      : log_members(log_categorical(logits)),
        log_mean(torch::logsumexp(log_members, 0) - std::log(static_cast<double>(logits.size(0)))) {
    const auto [value, index] = log_mean.max(1);
    max_prob = value.exp();
    prediction = index;
    entropy = (log_mean.exp() * -log_mean).sum(1);
  }

  /// I[y, theta] as the mean divergence of a member from the mean, which does not cancel if all agree.
  torch::Tensor information() const {
    return (log_members.exp() * (log_members - log_mean)).sum(2).mean(0).clamp_min(0);
  }
};

struct MuThetaEstimate {
  torch::Tensor mean, std_err;
};

/// I[mu, theta] = mean over members i of E_{mu ~ Dir_i}[ln Dir_i(mu) - ln mean_j Dir_j(mu)], and its standard error:
/// the members are strata.
MuThetaEstimate mu_theta_information(const torch::Tensor& logits, const MuThetaOptions& options, uint64_t seed) {
  const int64_t members = logits.size(0);
  auto sum = torch::zeros({logits.size(1)}, logits.options());
  auto variance = torch::zeros_like(sum);
  for (int64_t i = 0; i < members; ++i) {
    const auto log_mu = sample_log(logits[i], {options.samples, seed + static_cast<uint64_t>(i)});
    std::vector<torch::Tensor> densities;
    for (int64_t j = 0; j < members; ++j) densities.push_back(log_density_of_draws(logits[j], log_mu));
    // Relative to the member's own density: ln members would be lost beside the density of tiny concentrations.
    const auto relative = torch::stack(densities) - densities[i];
    const auto gain = std::log(static_cast<double>(members)) - torch::logsumexp(relative, 0);  // [S, N]
    sum += gain.mean(0);
    variance += gain.var(0, true) / static_cast<double>(options.samples);
  }
  return {sum / members, variance.sqrt() / members};
}

/// The same over as many rows at a time as keep the draws small.
MuThetaEstimate mu_theta_in_pieces(const torch::Tensor& logits, const MuThetaOptions& options) {
  const int64_t rows = logits.size(1);
  const int64_t elements_per_row = std::max<int64_t>(1, options.samples * (logits.size(2) + 2 * logits.size(0)));
  const int64_t piece = std::max<int64_t>(1, (int64_t{1} << 22) / elements_per_row);
  std::vector<torch::Tensor> means, errors;
  for (int64_t begin = 0; begin < std::max<int64_t>(rows, 1); begin += piece) {
    const auto part = logits.slice(1, begin, std::min(begin + piece, rows));
    const auto seed = options.seed + static_cast<uint64_t>(begin / piece) * static_cast<uint64_t>(logits.size(0));
    const auto estimate = mu_theta_information(part, options, seed);
    means.push_back(estimate.mean);
    errors.push_back(estimate.std_err);
  }
  return {torch::cat(means), torch::cat(errors)};
}

/// The mean divergence KL of Dir_i from Dir_j over all pairs, including a member with itself: it bounds I[mu, theta].
torch::Tensor pairwise_divergence(const torch::Tensor& logits) {
  const int64_t members = logits.size(0);
  auto sum = torch::zeros({logits.size(1)}, logits.options());
  for (int64_t i = 0; i < members; ++i)
    for (int64_t j = 0; j < members; ++j)
      if (i != j) sum = sum + kl_divergence(logits[i], logits[j]);
  return sum / static_cast<double>(members * members);
}

}  // namespace

SoftmaxMeasures softmax_measures(const torch::Tensor& logits) {
  check_logits("softmax_measures", "logits", logits);
  const MeanCategorical mean(logits.unsqueeze(0));
  const auto dtype = logits.scalar_type();
  return {mean.prediction, saturated(mean.max_prob, dtype), saturated(mean.entropy, dtype)};
}

EnsembleMeasures ensemble_measures(const torch::Tensor& logits) {
  check_ensemble("ensemble_measures", "logits", logits);
  const MeanCategorical mean(logits);
  const auto expected = (mean.log_members.exp() * -mean.log_members).sum(2).mean(0);
  const auto dtype = logits.scalar_type();
  return {mean.prediction, saturated(mean.max_prob, dtype), saturated(mean.entropy, dtype), saturated(expected, dtype),
          saturated(mean.information(), dtype)};
}

DirichletEnsembleMeasures dirichlet_ensemble_measures(const torch::Tensor& logits, const MuThetaOptions& options) {
  constexpr auto kFunction = "dirichlet_ensemble_measures";
  check_ensemble(kFunction, "logits", logits);
  check_range(kFunction, "samples", options.samples >= 2 || options.samples == 0, "at least 2",
              static_cast<double>(options.samples));
  const auto dtype = logits.scalar_type();
  const auto exact = logits.to(torch::kFloat64);
  const int64_t members = logits.size(0);
  const int64_t rows = logits.size(1);

  const MeanCategorical mean(exact);
  const auto model = mean.information();
  DirichletEnsembleMeasures measures{
      dirichlet_measures(exact.reshape({members * rows, logits.size(2)})), {}, {}, {}, {}};
  for (const auto& measure : measure_table())
    if (measure.dirichlet != nullptr && is_score(measure.name)) {
      auto& values = measures.*measure.dirichlet;
      values = values.view({members, rows}).mean(0);
    }
  measures.prediction = mean.prediction;
  measures.max_prob = mean.max_prob;
  measures.entropy = mean.entropy;
  // I[y, mu] = I[y, theta] + E_theta I[y, mu | theta]: both parts without cancellation.
  measures.mutual_information = model + measures.mutual_information;
  measures.mutual_information_y_theta = model;
  measures.epkl = pairwise_divergence(exact);
  const auto estimate = options.samples == 0 ? MuThetaEstimate{} : mu_theta_in_pieces(exact.detach(), options);
  measures.mutual_information_mu_theta = estimate.mean;
  measures.mutual_information_mu_theta_std_err = estimate.std_err;
  for (const auto& measure : measure_table())
    if (measure.dirichlet_ensemble != nullptr && measure.name != "prediction") {
      auto& values = measures.*measure.dirichlet_ensemble;
      values = saturated(values, dtype);
    }
  return measures;
}

}  // namespace priornet
