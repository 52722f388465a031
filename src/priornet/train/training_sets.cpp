#include <priornet/train/training_sets.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/seeds.h>
#include <priornet/data/catalogue/load.h>
#include <priornet/data/matching.h>
#include <priornet/data/transforms/fitting.h>

#include <cmath>

namespace priornet {
namespace {

torch::Tensor ascending(const torch::Tensor& rows) { return std::get<0>(rows.sort()); }

// The first rows of a shuffled set are watched, the next are left for calibration.
void keep_back(TrainingSets& sets, const TrainConfig& config) {
  const auto size = sets.train.size();
  const auto count = [&](const std::optional<double>& share) {
    return static_cast<int64_t>(std::llround(share.value_or(0.0) * static_cast<double>(size)));
  };
  const auto validation = count(config.validation_share);
  const auto calibration = count(config.calibration_share);
  if (validation + calibration == 0) return;
  sets.preparation.content = training_content(sets.train);
  auto generator = make_generator(derive_seed(static_cast<uint64_t>(config.seed), "rows kept back"));
  const auto rows = torch::randperm(size, generator, torch::kInt64);
  const auto whole = sets.train;
  if (validation > 0) {
    sets.preparation.validation_rows = ascending(rows.narrow(0, 0, validation));
    sets.validation = select(whole, sets.preparation.validation_rows);
  }
  if (calibration > 0) sets.preparation.calibration_rows = ascending(rows.narrow(0, validation, calibration));
  sets.train = select(whole, ascending(rows.narrow(0, validation + calibration, size - validation - calibration)));
}

void standardise(TrainingSets& sets) {
  if (sets.train.has_images())
    throw ConfigError(fmt::format("data.standardise is for rows of numbers, and {} holds images", sets.train.name));
  measure_scale(sets.preparation, sets.train.inputs);
  sets.train.inputs = sets.preparation.standardised(sets.train.inputs);
  if (sets.validation) sets.validation->inputs = sets.preparation.standardised(sets.validation->inputs);
}

}  // namespace

TrainingSets load_training_sets(const TrainConfig& config, Progress& progress) {
  LoadOptions load;
  load.progress = &progress;
  TrainingSets sets{load_set(config.train, load), {}, {}};
  const auto& train = sets.train;
  if (!train.has_labels()) throw DataError(fmt::format("{}: has no labels to learn from", train.name));
  sets.preparation.feature_names = train.feature_names;
  keep_back(sets, config);
  const auto finish = [&] {
    if (config.standardise.value_or(false)) standardise(sets);
    return std::move(sets);
  };
  if (config.validation.empty()) return finish();
  auto validation = load_set(config.validation, load);
  if (!validation.has_labels()) throw DataError(fmt::format("{}: has no labels to be held to", validation.name));
  validation.labels = labels_among(validation, train.class_names, train.name);
  validation.class_names = train.class_names;
  validation =
      train.has_images() ? fit_to(validation, image_shape(train)) : with_features(validation, train.feature_names);
  sets.validation = std::move(validation);
  return finish();
}

ModelOptions model_for(const TrainConfig& config, const Dataset& train) {
  auto model = config.model;
  model.input = train.inputs.sizes().slice(1).vec();
  model.classes = train.num_classes();
  return model;
}

}  // namespace priornet
