#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/autocast.h>
#include <priornet/core/errors.h>
#include <priornet/core/seeds.h>
#include <priornet/data/matching.h>
#include <priornet/data/transforms/fitting.h>
#include <priornet/models/evaluating.h>
#include <priornet/runs/scoring.h>
#include <priornet/train/inference.h>
#include <torch/utils.h>

namespace priornet {
namespace {

void check(const TrainedRun& run, const Dataset& set, const ScoringOptions& options) {
  if (options.batch < 0)
    throw ArgumentError(fmt::format("run_logits: batch should be at least 0, found {}", options.batch));
  if (options.dropout_samples < 0)
    throw ArgumentError(
        fmt::format("run_logits: dropout_samples should be at least 0, found {}", options.dropout_samples));
  if (options.dropout_samples > 0 && !run.members.at(0)->has_dropout())
    throw ArgumentError("run_logits: the network has no dropout, so that its dropout samples would all be the same");
  if (set.size() == 0) throw DataError(fmt::format("{}: is empty: there is nothing to score", set.name));
}

// One network on one batch: [S, n, K], or [1, n, K] without dropout.
torch::Tensor passes(Network& network, const torch::Tensor& inputs, const ScoringOptions& options, uint64_t seed) {
  const Evaluating evaluating(network, options.dropout_samples > 0);
  const Autocast autocast(options.bfloat16);
  const auto fixed = network.before_dropout(inputs);
  if (options.dropout_samples == 0) return network.from_dropout(fixed).to(torch::kFloat32).unsqueeze(0);
  // Dropout draws from LibTorch's own generator.
  torch::manual_seed(seed);
  std::vector<torch::Tensor> samples;
  for (int64_t s = 0; s < options.dropout_samples; ++s)
    samples.push_back(network.from_dropout(fixed).to(torch::kFloat32));
  return torch::stack(samples);
}

void check_finite(const torch::Tensor& logits, const Dataset& set) {
  const auto finite = logits.isfinite().all(2).all(0);
  if (finite.all().item<bool>()) return;
  throw DataError(fmt::format("{}: the network's logits of row {} (from 0) are not finite", set.name,
                              finite.logical_not().nonzero()[0].item<int64_t>()));
}

}  // namespace

int64_t batch_on(const torch::Device& device, const ScoringOptions& options) {
  if (options.batch != 0) return options.batch;
  // On a CPU what a layer gives should stay in the caches; a GPU wants work.
  return device.is_cpu() ? 250 : 2000;
}

Dataset fit_to_run(const Dataset& set, const TrainedRun& run) {
  const auto& shape = run.members.at(0)->input_shape();
  if (shape.size() == 3) return fit_to(set, {shape[0], shape[1], shape[2]});
  auto rows = with_features(set, run.preparation.feature_names);
  if (rows.inputs.sizes().slice(1) == torch::IntArrayRef(shape)) return rows;
  throw DataError(fmt::format("{}: the network takes rows of {} numbers, found inputs of shape [{}]", set.name,
                              shape[0], fmt::join(set.inputs.sizes().slice(1), ", ")));
}

torch::Tensor run_logits(TrainedRun& run, const Dataset& set, const ScoringOptions& options, Progress& progress) {
  check(run, set, options);
  const torch::NoGradGuard no_gradient;
  const auto inputs = run.preparation.standardised(fit_to_run(set, run).inputs);
  const auto device = run.device();
  const auto size = batch_on(device, options);
  const InferenceOptions inference{size, options.bfloat16, options.noise,
                                   derive_seed(options.seed, set.name + ": noise")};
  const auto task = "scores of " + set.name;
  std::vector<torch::Tensor> batches;
  for (int64_t first = 0; first < inputs.size(0); first += size) {
    progress.report(task, first, inputs.size(0));
    const auto batch = network_inputs(inputs, first, device, inference);
    std::vector<torch::Tensor> members;
    for (size_t m = 0; m < run.members.size(); ++m)
      members.push_back(
          passes(*run.members[m], batch, options,
                 derive_seed(options.seed, fmt::format("{}: dropout of member {} from row {}", set.name, m, first))));
    batches.push_back(torch::cat(members));
  }
  const auto logits = torch::cat(batches, 1);
  check_finite(logits, set);
  progress.report(task, inputs.size(0), inputs.size(0));
  return run.members.size() == 1 && options.dropout_samples == 0 ? logits[0] : logits;
}

}  // namespace priornet
