#include <priornet/experiments/synthetic.h>

#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/seeds.h>
#include <priornet/dirichlet/measures.h>
#include <priornet/eval/delong.h>
#include <priornet/eval/roc.h>
#include <priornet/eval/tensor_span.h>
#include <priornet/experiments/synthetic_training.h>
#include <priornet/report/panels.h>

#include <algorithm>
#include <span>

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

}  // namespace priornet
