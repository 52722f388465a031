#include "our_training.h"

#include <priornet/uncertainty/random.h>
#include <torch/utils.h>

#include <cstdlib>
#include <string_view>

namespace priornet::bench {
namespace {

constexpr size_t kSteps = 1'000'000;  // more than any run of this takes

std::unique_ptr<OutsideSource> outside_for(const TrainingCase& what, const Dataset& set, const torch::Device& device) {
  if (what.outside == 0) return nullptr;
  if (!what.factor_analysis) return outside_images(made_up_set(what, 2).inputs.to(device), 3);
  NoProgress progress;
  return make_outside({}, {set, device, 3, progress, {}});
}

// PRIORNET_BENCH_WITHOUT=recording: each kernel is launched by the host, to see what CUDA graphs gain on the whole
// step.
bool without(std::string_view way) {
  const auto* const named = std::getenv("PRIORNET_BENCH_WITHOUT");
  return named != nullptr && std::string_view(named) == way;
}

}  // namespace

OurTraining::OurTraining(const TrainingCase& what, const torch::Device& device, bool bfloat16)
    : stream_(device), set_(made_up_set(what, 1)), outside_(outside_for(what, set_, device)) {
  TrainingBatchesOptions options;
  options.batch = what.inside;
  options.outside_batch = what.outside;
  options.augmentation = augmentation_of(what);
  options.channels_last = what.channels_last;
  options.bfloat16 = bfloat16;
  batches_ = std::make_unique<TrainingBatches>(set_, outside_.get(), device, options);
  network_ = make_model(model_of(what), make_generator(1));
  network_->to(device);
  if (what.channels_last) to_channels_last(*network_);
  parameters_ = std::make_unique<FlatParameters>(network_->parameters());
  OptimiserOptions optimiser;
  optimiser.clip = kTrainingClip;
  optimiser_ = Optimiser::make(*parameters_, optimiser, std::vector<double>(kSteps, kTrainingRate));
  MethodOptions method;
  method.name = what.method;
  const TrainingStep::Options how{method, bfloat16, {}};
  step_ = without("recording") ? std::make_unique<TrainingStep>(*network_, *parameters_, *optimiser_, how)
                               : TrainingStep::make(*network_, *parameters_, *optimiser_, how);
}

void OurTraining::step() {
  torch::manual_seed(static_cast<uint64_t>(steps_));
  step_->run(*batches_, steps_++);
}

void OurTraining::batch() {
  batches_->prepare(steps_++);
  batches_->make();
}

}  // namespace priornet::bench
