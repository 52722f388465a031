#include <priornet/train/training_sets.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/load.h>
#include <priornet/data/transforms/fitting.h>

namespace priornet {

TrainingSets load_training_sets(const TrainConfig& config, Progress& progress) {
  LoadOptions load;
  load.progress = &progress;
  TrainingSets sets{load_set(config.train, load), {}, {}};
  const auto& train = sets.train;
  if (!train.has_labels()) throw DataError(fmt::format("{}: has no labels to learn from", train.name));
  if (config.validation.empty()) return sets;
  auto validation = load_set(config.validation, load);
  if (!validation.has_labels()) throw DataError(fmt::format("{}: has no labels to be held to", validation.name));
  if (validation.num_classes() > train.num_classes())
    throw DataError(fmt::format("{}: has {} classes, {} only {}", validation.name, validation.num_classes(), train.name,
                                train.num_classes()));
  if (train.has_images()) validation = fit_to(validation, image_shape(train));
  sets.validation = std::move(validation);
  return sets;
}

ModelOptions model_for(const TrainConfig& config, const Dataset& train) {
  auto model = config.model;
  model.input = train.inputs.sizes().slice(1).vec();
  model.classes = train.num_classes();
  return model;
}

}  // namespace priornet
