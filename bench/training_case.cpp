#include "training_case.h"

#include <priornet/uncertainty/random.h>

namespace priornet::bench {

ModelOptions model_of(const TrainingCase& what) {
  ModelOptions model;
  model.name = what.network;
  model.input = what.network == "vgg6" ? std::vector<int64_t>{1, 28, 28} : std::vector<int64_t>{3, 32, 32};
  model.classes = kTrainingClasses;
  return model;
}

AugmentationOptions augmentation_of(const TrainingCase& what) {
  if (what.network == "vgg6") return {};
  return {.flip = true, .shift = 4, .rotation_degrees = 15};
}

Dataset made_up_set(const TrainingCase& what, uint64_t seed) {
  constexpr int64_t kCount = 50'000;
  auto generator = make_generator(seed);
  auto sizes = model_of(what).input;
  sizes.insert(sizes.begin(), kCount);
  return {"made up",
          torch::randint(256, sizes, generator, torch::kUInt8),
          torch::randint(kTrainingClasses, {kCount}, generator, torch::kInt64),
          std::vector<std::string>(kTrainingClasses, "class"),
          {}};
}

}  // namespace priornet::bench
