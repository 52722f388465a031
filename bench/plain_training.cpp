#include "plain_training.h"

#include <torch/nn/functional/loss.h>
#include <torch/nn/utils/clip_grad.h>
#include "learning/base/gpu_modes.h"

#include "plain_augmentation.h"
#include "plain_losses.h"
#include "plain_networks.h"

namespace priornet::bench {
PlainTraining::PlainTraining(const TrainingCase& what, const torch::Device& device, bool bfloat16)
    : what_(what), bfloat16_(bfloat16), network_(plain_network(model_of(what))) {
  const auto set = made_up_set(what, 1);
  inside_ = set.inputs.to(device);
  labels_ = set.labels.to(device);
  if (what.outside > 0) outside_ = made_up_set(what, 2).inputs.to(device);
  network_->to(device);
  if (device.is_cuda())
    for (auto& parameter : network_->parameters())
      if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
  optimiser_ = std::make_unique<torch::optim::Adam>(network_->parameters(), torch::optim::AdamOptions(kTrainingRate));
  losses_ = torch::zeros({}, device);
}

torch::Tensor PlainTraining::images_from(const torch::Tensor& set, const torch::Tensor& rows) const {
  auto images = set.index_select(0, rows);
  if (augmentation_of(what_).flip) images = plain_augment(images, augmentation_of(what_));
  return images.to(torch::kFloat32).div_(127.5).sub_(1);
}

void PlainTraining::step() {
  const auto rows_of = [&](int64_t count) { return torch::randint(inside_.size(0), {count}, labels_.options()); };
  const auto rows = rows_of(what_.inside);
  const auto labels = labels_.index_select(0, rows);
  auto inputs = images_from(inside_, rows);
  if (what_.outside > 0) inputs = torch::cat({inputs, images_from(outside_, rows_of(what_.outside))});
  if (inputs.is_cuda()) inputs = inputs.contiguous(torch::MemoryFormat::ChannelsLast);
  optimiser_->zero_grad();
  torch::Tensor logits;
  {
    const Autocast autocast(bfloat16_);
    logits = network_->forward(inputs);
  }
  logits = logits.to(torch::kFloat32);
  const auto loss = what_.method == "dnn" ? torch::nn::functional::cross_entropy(logits, labels)
                                          : plain_prior_network_loss(logits, labels, {});
  loss.backward();
  torch::nn::utils::clip_grad_norm_(network_->parameters(), kTrainingClip);
  optimiser_->step();
  losses_.add_(loss.detach());
}

}  // namespace priornet::bench
