#include <ATen/Parallel.h>
#include <priornet/core/seeds.h>
#include <priornet/models/model.h>
#include <priornet/train/training_step.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>

#include "plain_losses.h"
#include "timing.h"

namespace priornet::bench {
namespace {

namespace nn = torch::nn;

constexpr int64_t kClasses = 10;
constexpr int64_t kBatch = 128;
constexpr double kRate = 1e-3;
constexpr double kClip = 10.0;
constexpr size_t kSteps = 1000000;  // more than any run of this takes

struct Batch {
  torch::Tensor inputs;
  BatchTargets targets;
};

Batch example_batch(Method method, const torch::Device& device) {
  const int64_t rows = needs_outside(method) ? 2 * kBatch : kBatch;
  return {torch::rand({rows, 1, 28, 28}).mul_(2).sub_(1).to(device),
          {torch::randint(kClasses, {kBatch}, torch::kInt64).to(device), {}}};
}

class Ours {
 public:
  Ours(Method method, const torch::Device& device, bool channels_last = true) {
    ModelOptions model;
    model.input = {1, 28, 28};
    model.classes = kClasses;
    network_ = make_model(model, make_generator(1));
    network_->to(device);
    if (channels_last) to_channels_last(*network_);
    parameters_ = std::make_unique<FlatParameters>(network_->parameters());
    OptimiserOptions optimiser;
    optimiser.clip = kClip;
    optimiser_ = Optimiser::make(*parameters_, optimiser, std::vector<double>(kSteps, kRate));
    MethodOptions options;
    options.method = method;
    step_ = TrainingStep::make(*network_, *parameters_, *optimiser_, {options, false, {}});
    batch_ = example_batch(method, device);
    if (channels_last) batch_.inputs = batch_.inputs.contiguous(torch::MemoryFormat::ChannelsLast);
  }

  void step() { step_->run(batch_.inputs, batch_.targets); }
  int64_t images() const { return batch_.inputs.size(0); }

 private:
  std::shared_ptr<Network> network_;
  std::unique_ptr<FlatParameters> parameters_;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<TrainingStep> step_;
  Batch batch_;
};

// The same network and step as a LibTorch tutorial would have them. LibTorch has no NAdam in C++: Adam costs as much.
class Plain {
 public:
  Plain(Method method, const torch::Device& device) : method_(method), batch_(example_batch(method, device)) {
    int64_t channels = 1;
    for (const auto& [first, second] : {std::pair<int64_t, int64_t>{64, 64}, {128, 128}}) {
      for (const auto next : {first, second}) {
        network_->push_back(nn::Conv2d(nn::Conv2dOptions(channels, next, 3).padding(1)));
        network_->push_back(nn::ReLU());
        channels = next;
      }
      network_->push_back(nn::MaxPool2d(2));
    }
    network_->push_back(nn::Flatten());
    network_->push_back(nn::Linear(channels * 7 * 7, 100));
    network_->push_back(nn::ReLU());
    network_->push_back(nn::Linear(100, kClasses));
    network_->to(device);
    optimiser_ = std::make_unique<torch::optim::Adam>(network_->parameters(), torch::optim::AdamOptions(kRate));
  }

  void step() {
    optimiser_->zero_grad();
    const auto logits = network_->forward(batch_.inputs);
    const auto loss = method_ == Method::kDnn ? nn::functional::cross_entropy(logits, batch_.targets.labels)
                                              : plain_prior_network_loss(logits, batch_.targets.labels, {});
    loss.backward();
    nn::utils::clip_grad_norm_(network_->parameters(), kClip);
    optimiser_->step();
    seen_ += loss.item<double>();  // as every loop that shows its loss
  }

 private:
  Method method_;
  Batch batch_;
  nn::Sequential network_;
  std::unique_ptr<torch::optim::Adam> optimiser_;
  double seen_ = 0;
};

}  // namespace

void compare_training(const Options& options, const Report& report) {
  const auto threads = at::get_num_threads();
  for (const auto& [method, name] : {std::pair{Method::kDnn, "VGG-6 step, dnn"}, {Method::kDpn, "VGG-6 step, dpn"}}) {
    Ours ours(method, options.device);
    Plain plain(method, options.device);
    report(compare(
        {name, "float32", kClasses, threads, 0, 0}, ours.images(), options, [&] { ours.step(); },
        [&] { plain.step(); }));
  }
  Ours contiguous(Method::kDnn, options.device, false);
  Ours channels_last(Method::kDnn, options.device);
  report(compare(
      {"contig. / chan. last", "float32", kClasses, threads, 0, 0}, contiguous.images(), options,
      [&] { contiguous.step(); }, [&] { channels_last.step(); }));
}

}  // namespace priornet::bench
