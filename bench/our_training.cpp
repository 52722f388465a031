#include "our_training.h"

#include <priornet/uncertainty/random.h>
#include <torch/utils.h>

#include "plain_networks.h"

namespace priornet::bench {
namespace {

constexpr size_t kSteps = 1'000'000;  // more than any run of this benchmark takes

std::unique_ptr<OutsideSource> outside_for(const TrainingCase& what, const Dataset& set, const torch::Device& device) {
  if (what.outside == 0) return nullptr;
  if (!what.factor_analysis) return outside_images(made_up_set(what, 2).inputs.to(device), 3);
  NoProgress progress;
  return make_outside({}, {set, device, 3, progress, {}});
}

// Like a network of ours, but with LibTorch's layers: no kernel of ours follows its convolutions.
class PlainClassifier final : public Classifier {
 public:
  explicit PlainClassifier(const ModelOptions& model)
      : model_(model), layers_(register_module("layers", plain_network(model))) {}

  torch::Tensor forward(const torch::Tensor& inputs) override { return layers_->forward(inputs); }
  const std::vector<int64_t>& input_shape() const override { return model_.input; }
  int64_t classes() const override { return model_.classes; }
  bool can_be_recorded() const override { return true; }

 private:
  ModelOptions model_;
  torch::nn::Sequential layers_;
};

std::shared_ptr<Classifier> network_for(const ModelOptions& model, bool fused) {
  if (fused) return make_model(model, make_generator(1));
  return std::make_shared<PlainClassifier>(model);
}

}  // namespace

OurTraining::OurTraining(const TrainingCase& what, const torch::Device& device, bool bfloat16, const TrainingWays& ways)
    : stream_(device), set_(made_up_set(what, 1)), outside_(outside_for(what, set_, device)) {
  TrainingBatchesOptions options;
  options.batch = what.inside;
  options.outside_batch = what.outside;
  options.augmentation = augmentation_of(what);
  options.channels_last = what.channels_last;
  options.bfloat16 = bfloat16;
  options.by_kernel = ways.kernel_batches;
  batches_ = std::make_unique<TrainingBatches>(set_, outside_.get(), device, options);
  network_ = network_for(model_of(what), ways.fused);
  network_->to(device);
  if (what.channels_last) to_channels_last(*network_);
  parameters_ = std::make_unique<FlatParameters>(network_->parameters());
  OptimiserOptions optimiser;
  optimiser.clip = kTrainingClip;
  optimiser_ = Optimiser::make(*parameters_, optimiser, std::vector<double>(kSteps, kTrainingRate));
  MethodOptions method;
  method.name = what.method;
  const TrainingStep::Options how{method, bfloat16, {}};
  step_ = ways.recording ? TrainingStep::make(*network_, *parameters_, *optimiser_, how)
                         : std::make_unique<TrainingStep>(*network_, *parameters_, *optimiser_, how);
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
