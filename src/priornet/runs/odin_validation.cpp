#include <priornet/core/seeds.h>
#include <priornet/data/catalogue/load.h>
#include <priornet/data/transforms/random_subset.h>
#include <priornet/runs/odin_validation.h>
#include <priornet/runs/scoring.h>
#include <priornet/train/outside.h>

#include <algorithm>

namespace priornet {
namespace {

constexpr int64_t kFitted = 10'000;  // training images are enough for factor analysis

uint64_t seed_of(const TrainedRun& run, const char* purpose) {
  return derive_seed(static_cast<uint64_t>(run.config.seed), purpose);
}

Dataset at_most(const Dataset& set, int64_t count, uint64_t seed) {
  return set.size() <= count ? set : random_subset(set, count, seed);
}

// Whether a tested set is the same one, whatever its modifiers.
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
  // Several batches, as training has them: factor analysis has a variance a batch.
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
  const auto train = fit_to_run(load_set(config.train, load), run);
  const bool has_validation = !config.validation.empty() && !is_tested(config.validation, tested);
  const auto inside = has_validation ? fit_to_run(load_set(config.validation, load), run) : train;
  return {at_most(inside, count, seed_of(run, "inside of ODIN's validation")),
          odin_outside(run, train, tested, count, progress)};
}

}  // namespace priornet
