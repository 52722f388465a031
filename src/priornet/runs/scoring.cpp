#include <priornet/core/seeds.h>
#include <priornet/eval/measure_columns.h>
#include <priornet/eval/score_names.h>
#include <priornet/runs/scoring.h>
#include <priornet/train/inference.h>

#include <algorithm>

namespace priornet {
namespace {

std::vector<NamedTensor> measured(const torch::Tensor& logits, bool dirichlet, const MuThetaOptions& estimate) {
  if (logits.dim() == 2)
    return dirichlet ? measure_columns(dirichlet_measures(logits)) : measure_columns(softmax_measures(logits));
  return dirichlet ? measure_columns(dirichlet_ensemble_measures(logits, estimate))
                   : measure_columns(ensemble_measures(logits));
}

torch::Tensor mean_over_members(const torch::Tensor& values, const torch::Tensor& logits) {
  return logits.dim() == 3 ? values.mean(0) : values;
}

torch::Tensor odin_column(TrainedRun& run, const Dataset& set, const ScoringOptions& options, Progress& progress) {
  const auto size = batch_on(run.device(), options);
  const InferenceOptions inference{size, false, options.noise, derive_seed(options.seed, set.name + ": noise")};
  const auto task = "ODIN of " + set.name;
  std::vector<torch::Tensor> parts;
  const auto inputs = run.preparation.standardised(set.inputs);
  for (int64_t first = 0; first < set.size(); first += size) {
    progress.report(task, first, set.size());
    parts.push_back(odin_score(run.members, network_inputs(inputs, first, run.device(), inference), *options.odin));
  }
  progress.report(task, set.size(), set.size());
  return torch::cat(parts);
}

}  // namespace

const torch::Tensor* SetScores::find(std::string_view column) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == column; });
  return found == columns.end() ? nullptr : &found->values;
}

SetScores scores_of_logits(const torch::Tensor& logits, bool dirichlet, int64_t mu_theta_samples, uint64_t seed) {
  const torch::NoGradGuard no_gradient;
  const auto exact = logits.to(torch::kFloat64);
  SetScores scores;
  scores.probabilities = mean_over_members(torch::softmax(exact, -1), exact).to(torch::kCPU);
  for (const auto& [name, values] : measured(exact, dirichlet, {mu_theta_samples, seed}))
    if (is_score(name)) scores.columns.push_back({name, values.to(torch::kCPU)});
  scores.columns.push_back({"energy", mean_over_members(-torch::logsumexp(exact, -1), exact).to(torch::kCPU)});
  return scores;
}

SetScores score(TrainedRun& run, const Dataset& set, const ScoringOptions& options, Progress& progress) {
  const auto fitted = fit_to_run(set, run);
  auto scores = scores_of_logits(run_logits(run, fitted, options, progress), run.gives_dirichlet(),
                                 options.mu_theta_samples, derive_seed(options.seed, set.name + ": mu theta"));
  if (options.odin) scores.columns.push_back({"odin", odin_column(run, fitted, options, progress)});
  return scores;
}

}  // namespace priornet
