#include "tool/experiments/synthetic.h"

#include <fmt/format.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measures.h>
#include <priornet/uncertainty/random.h>
#include <torch/optim/adam.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "tool/report/panels.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

void check(const SyntheticOptions& options) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    check_range("run_synthetic", name, value >= least, fmt::format("at least {}", least), static_cast<double>(value));
  };
  at_least("hidden", options.hidden, 1);
  at_least("batch", options.batch, 1);
  at_least("points", options.points, options.batch);
  at_least("epochs", options.epochs, 1);
  at_least("test_points", options.test_points, 2);
  at_least("grid", options.grid, 2);
  at_least("shown_points", options.shown_points, 0);
  check_range("run_synthetic", "alpha0", options.alpha0 > GaussianClasses::kClasses, "above 3", options.alpha0);
}

double fraction(const torch::Tensor& flags) { return flags.to(torch::kFloat64).mean().item<double>(); }

/// What every network of one sigma is measured on.
struct TestData {
  LabelledPoints inside;
  torch::Tensor outside;
  torch::Tensor cells;
};

Separation separation(const torch::Tensor& outside, const torch::Tensor& inside) {
  const Ranking ranking({.positive = span_of(outside), .negative = span_of(inside)});
  const auto interval = delong_interval(ranking);
  return {auroc(ranking), interval.low, interval.high};
}

SyntheticModel evaluate(const char* name, const TrainedNetwork& trained, const TestData& test,
                        const SyntheticOptions& options) {
  const torch::NoGradGuard no_grad;
  auto network = trained.network;
  const auto measure = [&](const torch::Tensor& points) {
    // In float64: near the flat Dirichlet float32 leaves too few distinct values to rank by.
    return dirichlet_measures(network->forward(points.to(options.device)).to(torch::kCPU, torch::kFloat64));
  };
  const auto inside = measure(test.inside.points), outside = measure(test.outside), map = measure(test.cells);
  const auto square = [&](const torch::Tensor& values) { return values.view({options.grid, options.grid}); };
  SyntheticModel model;
  model.name = name;
  model.accuracy = fraction(inside.prediction == test.inside.labels);
  model.loss = trained.loss;
  model.entropy = separation(outside.entropy, inside.entropy);
  model.mutual_information = separation(outside.mutual_information, inside.mutual_information);
  model.differential_entropy = separation(outside.differential_entropy, inside.differential_entropy);
  model.entropy_map = square(map.entropy);
  model.expected_entropy_map = square(map.expected_entropy);
  model.mutual_information_map = square(map.mutual_information);
  model.differential_entropy_map = square(map.differential_entropy);
  return model;
}

SyntheticCase run_case(const GaussianClasses& classes, const SyntheticOptions& options, Progress& progress) {
  const auto seed = derive_seed(options.seed, fmt::format("data {}", classes.sigma));
  const auto train = sample(classes, options.points, derive_seed(seed, "train"));
  const TestData test{sample(classes, options.test_points, derive_seed(seed, "test inside")),
                      sample_outside(classes, options.test_points, derive_seed(seed, "test outside")),
                      cell_centres(options.grid, kHalfSide).to(torch::kFloat32)};
  SyntheticCase result;
  result.classes = classes;
  result.bayes_accuracy = 1.0 - bayes_error(classes);
  result.bayes_test_accuracy = fraction(log_posterior(classes, test.inside.points).argmax(1) == test.inside.labels);
  result.outside_share = 1.0 - fraction(in_data_region(classes, test.inside.points));
  const auto shown = std::min(options.shown_points, options.points);
  result.shown = {train.points.narrow(0, 0, shown), train.labels.narrow(0, 0, shown)};
  result.posterior_entropy_map = posterior_entropy(classes, test.cells).view({options.grid, options.grid});
  const auto fit = [&](SyntheticKind kind) { return train_synthetic(kind, classes, train, options, progress); };
  result.dnn = evaluate("DNN", fit(SyntheticKind::kDnn), test, options);
  result.dpn = evaluate("DPN", fit(SyntheticKind::kDpn), test, options);
  return result;
}

}  // namespace

SyntheticResult run_synthetic(const SyntheticOptions& options, Progress& progress) {
  check(options);
  SyntheticResult result{options, {}};
  for (const double sigma : options.sigmas) result.cases.push_back(run_case({.sigma = sigma}, options, progress));
  return result;
}

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
    const auto steps_per_epoch = options_.points / options_.batch;
    const auto steps = steps_per_epoch * options_.epochs;
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
      for (int64_t i = 0; i < steps_per_epoch; ++i, ++step) {
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
      mean = sum.item<double>() / static_cast<double>(steps_per_epoch);
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
