#include <priornet/learning/odin.h>

#include <fmt/format.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/outliers.h>
#include <priornet/learning/scoring.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

using Members = std::vector<std::shared_ptr<Classifier>>;

// The authors' steps of up to 0.004 are for pixels in [0, 1]; larger ones help networks on simple images.
constexpr std::array kTemperatures = {1.0, 2.0, 5.0, 10.0, 100.0, 1000.0};
constexpr std::array kSteps = {0.0, 0.001, 0.002, 0.004, 0.008, 0.02, 0.05, 0.1};

// ln max_c mean_m softmax(f_m / T)_c, float64 [N]: at high temperatures float32 would tie.
torch::Tensor log_confidence(const Members& members, const torch::Tensor& inputs, double temperature) {
  std::vector<torch::Tensor> each;
  for (const auto& member : members)
    each.push_back(torch::log_softmax(member->forward(inputs).to(torch::kFloat64) / temperature, 1));
  const auto mean = torch::logsumexp(torch::stack(each), 0) - std::log(static_cast<double>(members.size()));
  return std::get<0>(mean.max(1));
}

// sign(d ln S / dx): rows do not depend on each other, so one gradient of the sum gives them all.
torch::Tensor direction(const Members& members, const torch::Tensor& inputs, double temperature) {
  const torch::AutoGradMode with_gradient(true);
  const auto free = inputs.detach().clone().requires_grad_();
  const auto sum = log_confidence(members, free, temperature).sum();
  return torch::autograd::grad({sum}, {free})[0].sign();
}

std::vector<std::unique_ptr<Evaluating>> evaluating(const Members& members) {
  std::vector<std::unique_ptr<Evaluating>> all;
  for (const auto& member : members) all.push_back(std::make_unique<Evaluating>(*member));
  return all;
}

// The scores at one temperature and each of kSteps, on the CPU.
std::array<torch::Tensor, kSteps.size()> scores_by_step(const Members& members, const torch::Tensor& inputs,
                                                        double temperature, int64_t batch) {
  std::array<std::vector<torch::Tensor>, kSteps.size()> parts;
  InferenceOptions inference;
  inference.batch = batch;
  for_each_batch(inputs, inputs.device(), inference, [&](const torch::Tensor& part, int64_t) {
    const auto towards = direction(members, part, temperature);
    for (size_t s = 0; s < kSteps.size(); ++s)
      parts[s].push_back(log_confidence(members, part + kSteps[s] * towards, temperature).to(torch::kCPU));
  });
  std::array<torch::Tensor, kSteps.size()> scores;
  for (size_t s = 0; s < kSteps.size(); ++s) scores[s] = torch::cat(parts[s]).contiguous();
  return scores;
}

bool is_better(const OdinChoice& a, const OdinChoice& b) {
  if (a.fpr95 != b.fpr95) return a.fpr95 < b.fpr95;
  if (a.auroc != b.auroc) return a.auroc > b.auroc;
  return a.settings.step < b.settings.step;
}

}  // namespace

torch::Tensor odin_score(const Members& members, const torch::Tensor& inputs, const OdinSettings& settings) {
  constexpr const char* kFunction = "odin_score";
  check_range(kFunction, "temperature", settings.temperature > 0 && std::isfinite(settings.temperature), "above 0",
              settings.temperature);
  check_range(kFunction, "step", settings.step >= 0 && std::isfinite(settings.step), "at least 0", settings.step);
  const auto modes = evaluating(members);
  auto moved = inputs;
  if (settings.step > 0) moved = inputs + settings.step * direction(members, inputs, settings.temperature);
  const torch::NoGradGuard no_gradient;
  return log_confidence(members, moved, settings.temperature).exp().to(torch::kCPU);
}

OdinChoice choose_odin(const Members& members, const torch::Tensor& inside, const torch::Tensor& outside, int64_t batch,
                       Progress& progress) {
  const torch::NoGradGuard no_gradient;
  const auto modes = evaluating(members);
  std::optional<OdinChoice> best;
  constexpr auto kTask = "choice of ODIN's temperature and step";
  int64_t done = 0;
  for (const double temperature : kTemperatures) {
    progress.report(kTask, done++, kTemperatures.size());
    const auto of_inside = scores_by_step(members, inside, temperature, batch);
    const auto of_outside = scores_by_step(members, outside, temperature, batch);
    for (size_t s = 0; s < kSteps.size(); ++s) {
      const auto metrics =
          roc_metrics(ScoreSets{.positive = span_of(of_inside[s]), .negative = span_of(of_outside[s])});
      const OdinChoice choice{{temperature, kSteps[s]}, metrics.fpr95, metrics.auroc};
      if (!best || is_better(choice, *best)) best = choice;
    }
  }
  progress.report(kTask, done, done);
  return *best;
}

namespace {

constexpr int64_t kFitted = 10'000;  // training images are enough for factor analysis

uint64_t seed_of(const TrainedRun& run, const char* purpose) {
  return derive_seed(static_cast<uint64_t>(run.config.seed), purpose);
}

Dataset at_most(const Dataset& set, int64_t count, uint64_t seed) {
  return set.size() <= count ? set : random_subset(set, count, seed);
}

// Whether a tested set is the same set, whatever its modifiers.
bool is_tested(const std::string& name, const std::vector<std::string>& tested) {
  const auto wanted = parse_set_name(name);
  return std::any_of(tested.begin(), tested.end(), [&](const auto& other) {
    const auto found = parse_set_name(other);
    return found.set == wanted.set && found.split == wanted.split;
  });
}

// Between the smallest and the largest value of each feature.
Dataset uniform_rows(const Dataset& train, int64_t count, uint64_t seed) {
  const auto low = std::get<0>(train.inputs.min(0));
  const auto high = std::get<0>(train.inputs.max(0));
  const auto draws = torch::rand({count, train.inputs.size(1)}, make_generator(seed));
  return {kUniformNoise, low + draws * (high - low), {}, {}, train.feature_names};
}

}  // namespace

Dataset odin_outside(const TrainedRun& run, const Dataset& train, const std::vector<std::string>& tested, int64_t count,
                     Progress& progress) {
  const auto seed = seed_of(run, "outside of ODIN's validation");
  if (!train.has_images()) return uniform_rows(train, count, seed);
  auto options = run.config.outside;
  if (is_set(options.source) && is_tested(options.source, tested)) options.source = kUniformNoise;
  const auto fitted = at_most(train, kFitted, seed);
  const auto source = make_outside(options, {fitted, run.device(), seed, progress, {}});
  // Several batches, as in training: factor analysis has one variance per batch.
  constexpr int64_t kBatch = 100;
  std::vector<torch::Tensor> batches;
  for (int64_t step = 0; step * kBatch < count; ++step)
    batches.push_back(source->batch({step, kBatch, 0, std::min(kBatch, count - step * kBatch)}).to(torch::kCPU));
  const auto name = options.source == kFactorAnalysis ? options.source + " of " + train.name : options.source;
  return {name, torch::cat(batches), {}, {}, {}};
}

OdinValidation odin_validation(const TrainedRun& run, const std::vector<std::string>& tested, int64_t count,
                               Progress& progress) {
  LoadOptions load;
  load.progress = &progress;
  const auto& config = run.config;
  load.encoding = run.split.encoding;
  const auto train = fit_to_run(load_set(config.train, load), run);
  const auto& kept_back = run.split.validation_rows;
  const auto inside = !config.validation.empty() && !is_tested(config.validation, tested)
                          ? fit_to_run(load_set(config.validation, load), run)
                      : kept_back.defined() ? select(train, kept_back)
                                            : train;
  return {at_most(inside, count, seed_of(run, "inside of ODIN's validation")),
          odin_outside(run, train, tested, count, progress)};
}

}  // namespace priornet
