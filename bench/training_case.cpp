#include "training_case.h"

#include <priornet/uncertainty/random.h>

namespace priornet::bench {

namespace {

bool is_large(const TrainingCase& what) { return what.network == "resnet50"; }
bool is_grey(const TrainingCase& what) { return what.network == "vgg6"; }

}  // namespace

ModelOptions model_of(const TrainingCase& what) {
  ModelOptions model;
  model.name = what.network;
  model.input = {3, 32, 32};
  if (is_grey(what)) model.input = {1, 28, 28};
  if (is_large(what)) model.input = {3, 224, 224};
  model.classes = is_large(what) ? 1000 : 10;
  return model;
}

AugmentationOptions augmentation_of(const TrainingCase& what) {
  if (is_grey(what)) return {};
  if (is_large(what)) return {.flip = true, .shift = 16};
  return {.flip = true, .shift = 4, .rotation_degrees = 15};
}

Dataset made_up_set(const TrainingCase& what, uint64_t seed) {
  const int64_t count = is_large(what) ? 4'096 : 50'000;
  auto generator = make_generator(seed);
  const auto model = model_of(what);
  auto sizes = model.input;
  sizes.insert(sizes.begin(), count);
  return {"made up",
          torch::randint(256, sizes, generator, torch::kUInt8),
          torch::randint(model.classes, {count}, generator, torch::kInt64),
          std::vector<std::string>(static_cast<size_t>(model.classes), "class"),
          {}};
}

}  // namespace priornet::bench
