#include <priornet/experiments/synthetic_training.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/seeds.h>
#include <torch/optim/adam.h>

#include <cmath>
#include <numbers>

namespace priornet {
namespace {

/// Share of the peak learning rate at `step` of `steps`.
double schedule(int64_t step, int64_t steps) {
  constexpr double kWarmUp = 0.1;
  const double done = (static_cast<double>(step) + 0.5) / static_cast<double>(steps);
  if (done < kWarmUp) return done / kWarmUp;
  return 0.5 * (1.0 + std::cos(std::numbers::pi * (done - kWarmUp) / (1.0 - kWarmUp)));
}

class Trainer {
 public:
  Trainer(SyntheticKind kind, const GaussianClasses& classes, const SyntheticOptions& options)
      : kind_(kind),
        classes_(classes),
        options_(options),
        seed_(derive_seed(options.seed, fmt::format("{} {}", name(), classes.sigma))),
        network_(MLPOptions{.inputs = 2,
                            .hidden = {options.hidden},
                            .classes = GaussianClasses::kClasses,
                            .input_scale = options.input_scale},
                 make_generator(derive_seed(seed_, "weights"))) {
    network_->to(options.device);
    loss_options_.divergence = options.divergence;
    loss_options_.target = {.alpha0 = options.alpha0, .epsilon = 1.0 / options.alpha0};
  }

  TrainedNetwork train(const LabelledPoints& data, Progress& progress) {
    torch::optim::Adam optimiser(network_->parameters());
    const auto steps_an_epoch = options_.points / options_.batch;
    const auto steps = steps_an_epoch * options_.epochs;
    const auto task = fmt::format("{}, sigma {:g}", name(), classes_.sigma);
    auto order_generator = make_generator(derive_seed(seed_, "order"));
    int64_t step = 0;
    double mean = 0.0;
    for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      progress.report(task, epoch, options_.epochs);
      const auto order = torch::randperm(options_.points, order_generator);
      const auto points = data.points.index_select(0, order).to(options_.device);
      const auto labels = data.labels.index_select(0, order).to(options_.device);
      const auto outside = draw_outside(epoch);
      auto sum = torch::zeros({}, torch::TensorOptions(options_.device).dtype(torch::kFloat64));
      for (int64_t i = 0; i < steps_an_epoch; ++i, ++step) {
        static_cast<torch::optim::AdamOptions&>(optimiser.param_groups()[0].options())
            .lr(options_.learning_rate * schedule(step, steps));
        const auto first = i * options_.batch;
        const auto loss = loss_of(points.narrow(0, first, options_.batch), labels.narrow(0, first, options_.batch),
                                  outside.defined() ? outside.narrow(0, first, options_.batch) : outside);
        optimiser.zero_grad();
        loss.backward();
        optimiser.step();
        sum += loss.detach();
      }
      mean = sum.item<double>() / static_cast<double>(steps_an_epoch);
      if (!std::isfinite(mean)) throw Error(fmt::format("training the {} diverged in epoch {}", task, epoch + 1));
    }
    progress.report(task, options_.epochs, options_.epochs);
    return {network_, mean};
  }

 private:
  const char* name() const { return kind_ == SyntheticKind::kDnn ? "DNN" : "DPN"; }

  torch::Tensor draw_outside(int64_t epoch) const {
    if (kind_ == SyntheticKind::kDnn) return {};
    const auto seed = derive_seed(seed_, fmt::format("outside {}", epoch));
    return sample_outside(classes_, options_.points, seed).to(options_.device);
  }

  torch::Tensor loss_of(const torch::Tensor& points, const torch::Tensor& labels, const torch::Tensor& outside) {
    if (kind_ == SyntheticKind::kDnn) return cross_entropy(network_->forward(points), labels).mean();
    return prior_network_loss(network_->forward(torch::cat({points, outside})), labels, loss_options_).total;
  }

  SyntheticKind kind_;
  GaussianClasses classes_;
  SyntheticOptions options_;
  uint64_t seed_;
  MLP network_;
  PriorNetworkLossOptions loss_options_;
};

}  // namespace

TrainedNetwork train_synthetic(SyntheticKind kind, const GaussianClasses& classes, const LabelledPoints& train,
                               const SyntheticOptions& options, Progress& progress) {
  return Trainer(kind, classes, options).train(train, progress);
}

}  // namespace priornet
