#include <ATen/Parallel.h>
#include <priornet/learning/optimiser.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>
#include <torch/optim/sgd.h>

#include <cmath>

namespace priornet {
namespace {

// The gradient of the sum over i of (i + 1) (p - 1)^2 / 2, with noise. It depends on p, so an error in one step shows
// in the next.
torch::Tensor gradient_at(const torch::Tensor& p, int64_t step) {
  const auto scale = torch::arange(1, p.numel() + 1, torch::kFloat64);
  const auto noise = torch::randn({p.numel()}, make_generator(static_cast<uint64_t>(step)), torch::kFloat64);
  return (p.detach().to(torch::kFloat64).flatten() - 1.0) * scale + noise;
}

torch::Tensor optimised(const torch::Tensor& start, const OptimiserOptions& options, const std::vector<double>& rates) {
  auto p = start.clone().requires_grad_();
  FlatParameters flat({p});
  const auto optimiser = Optimiser::make(flat, options, rates);
  for (size_t step = 0; step < rates.size(); ++step) {
    flat.clear_gradients();
    p.mutable_grad().copy_(gradient_at(p, static_cast<int64_t>(step)).to(p.dtype()).view_as(p));
    optimiser->step();
  }
  return p.detach();
}

std::vector<double> falling_rates(size_t steps) {
  std::vector<double> rates;
  for (size_t i = 0; i < steps; ++i) rates.push_back(0.01 / (1.0 + 0.01 * static_cast<double>(i)));
  return rates;
}

// PyTorch's rule (torch.optim.NAdam, momentum_decay 4e-3), one parameter at a time in scalars.
double reference_nadam(double p, const std::vector<double>& rates, int64_t element, int64_t elements) {
  double m = 0, v = 0, product = 1;
  for (size_t i = 0; i < rates.size(); ++i) {
    const auto t = static_cast<double>(i + 1);
    const auto probe = torch::full({elements}, p, torch::kFloat64);
    const double g = gradient_at(probe, static_cast<int64_t>(i))[element].item<double>();
    const double mu = 0.9 * (1.0 - 0.5 * std::pow(0.96, t * 4e-3));
    const double mu_next = 0.9 * (1.0 - 0.5 * std::pow(0.96, (t + 1) * 4e-3));
    product *= mu;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double size = std::sqrt(v / (1.0 - std::pow(0.999, t))) + 1e-8;
    p -= rates[i] * (1.0 - mu) / (1.0 - product) * g / size;
    p -= rates[i] * mu_next / (1.0 - product * mu_next) * m / size;
  }
  return p;
}

TEST(NAdam, FollowsPyTorchsRuleOverAThousandSteps) {
  const auto rates = falling_rates(1000);
  const auto start = torch::tensor({0.3, -2.0, 5.0}, torch::kFloat64);
  const auto found = optimised(start, {}, rates);
  const auto found32 = optimised(start.to(torch::kFloat32), {}, rates);
  for (int64_t i = 0; i < 3; ++i) {
    const auto wanted = reference_nadam(start[i].item<double>(), rates, i, 3);
    EXPECT_NEAR(found[i].item<double>(), wanted, 1e-12);
    EXPECT_NEAR(found32[i].item<double>(), wanted, 1e-5);
  }
}

TEST(Sgd, FollowsPyTorchsRuleWithMomentumAndWeightDecay) {
  for (const bool nesterov : {false, true}) {
    OptimiserOptions options;
    options.name = "sgd";
    options.settings["nesterov"] = nesterov ? 1 : 0;
    options.weight_decay = 5e-3;
    const auto start = torch::tensor({{0.3, -2.0}, {5.0, 0.1}}, torch::kFloat64);
    auto p = start.clone().requires_grad_();
    torch::optim::SGD plain({p}, torch::optim::SGDOptions(0.01).momentum(0.9).nesterov(nesterov).weight_decay(5e-3));
    for (int64_t step = 0; step < 100; ++step) {
      p.mutable_grad() = gradient_at(p, step).view_as(p);
      plain.step();
    }
    EXPECT_TRUE(optimised(start, options, std::vector<double>(100, 0.01)).allclose(p.detach(), 1e-12, 1e-12));
  }
}

// PyTorch's rule (torch.optim.AdamW), one parameter at a time in scalars.
double reference_adamw(double p, const std::vector<double>& rates, double decay, int64_t element, int64_t elements) {
  double m = 0, v = 0;
  for (size_t i = 0; i < rates.size(); ++i) {
    const auto t = static_cast<double>(i + 1);
    const auto probe = torch::full({elements}, p, torch::kFloat64);
    const double g = gradient_at(probe, static_cast<int64_t>(i))[element].item<double>();
    p *= 1.0 - rates[i] * decay;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    p -= rates[i] * (m / (1.0 - std::pow(0.9, t))) / (std::sqrt(v / (1.0 - std::pow(0.999, t))) + 1e-8);
  }
  return p;
}

TEST(AdamW, FollowsPyTorchsRuleWithDecayApartFromTheGradient) {
  const auto rates = falling_rates(200);
  const auto start = torch::tensor({0.3, -2.0, 5.0}, torch::kFloat64);
  OptimiserOptions options;
  options.name = "adamw";
  options.weight_decay = 0.1;
  const auto found = optimised(start, options, rates);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_NEAR(found[i].item<double>(), reference_adamw(start[i].item<double>(), rates, 0.1, i, 3), 1e-12);
}

TEST(Optimiser, ClipsTheNormOfTheWholeGradient) {
  auto a = torch::zeros({2}).requires_grad_();
  auto b = torch::zeros({1}).requires_grad_();
  FlatParameters flat({a, b});
  OptimiserOptions options;
  options.name = "sgd";
  options.clip = 1.0;
  const auto optimiser = Optimiser::make(flat, options, {1.0, 1.0});
  a.mutable_grad().fill_(2.0);
  b.mutable_grad().fill_(1.0);
  optimiser->step();
  EXPECT_NEAR(optimiser->gradient_norm().item<double>(), 3.0, 1e-6);
  EXPECT_NEAR(a[0].item<double>(), -1.9 * 2.0 / 3.0, 1e-5);
  EXPECT_NEAR(b.item<double>(), -1.9 / 3.0, 1e-5);  // Nesterov: 1 + momentum times the gradient
}

// Decay comes after clipping: it is not a part of the gradient whose norm is held.
TEST(Optimiser, DecaysWeightsWhateverTheClipping) {
  auto a = torch::full({2}, 5.0).requires_grad_();
  FlatParameters flat({a});
  OptimiserOptions options;
  options.name = "sgd";
  options.settings["momentum"] = 0.0;
  options.clip = 1.0;
  options.weight_decay = 0.1;
  const auto optimiser = Optimiser::make(flat, options, {1.0});
  a.mutable_grad().copy_(torch::tensor({30.0, 40.0}));
  optimiser->step();
  EXPECT_NEAR(a[0].item<double>(), 5.0 - (0.6 + 0.5), 1e-5);
  EXPECT_NEAR(a[1].item<double>(), 5.0 - (0.8 + 0.5), 1e-5);
}

TEST(Optimiser, UpdatesAlikeWithAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  std::vector<torch::Tensor> found;
  for (const int threads : {1, 3}) {
    at::set_num_threads(threads);
    OptimiserOptions options;
    options.clip = 1.0;
    found.push_back(optimised(torch::randn({50'001}, make_generator(1)), options, falling_rates(3)));
  }
  at::set_num_threads(before);
  EXPECT_TRUE(found[0].equal(found[1]));
}

TEST(Optimiser, GoesOnFromItsStateAsIfNothingHadHappened) {
  const auto rates = falling_rates(20);
  const auto start = torch::randn({300}, make_generator(1));
  for (const auto& rule : optimisers()) {
    OptimiserOptions options;
    options.name = rule.name;
    const auto whole = optimised(start, options, rates);
    auto p = start.clone().requires_grad_();
    FlatParameters flat({p});
    auto optimiser = Optimiser::make(flat, options, rates);
    for (int64_t step = 0; step < 20; ++step) {
      if (step == 7) {
        auto next = Optimiser::make(flat, options, rates);
        for (const auto& [name, values] : optimiser->state())
          for (auto& [other, kept] : next->state())
            if (other == name) kept.copy_(values);
        optimiser = std::move(next);
      }
      p.mutable_grad().copy_(gradient_at(p, step));
      optimiser->step();
    }
    EXPECT_TRUE(p.detach().equal(whole)) << rule.name;
  }
}

TEST(FlatParameters, LeaveANetworksValuesAndCollectItsGradients) {
  auto a = torch::randn({3, 5}).requires_grad_();
  auto b = torch::randn({4, 3, 3, 3}).contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_();
  const auto before = a.detach().clone();
  FlatParameters flat({a, b});
  EXPECT_TRUE(a.detach().equal(before));
  EXPECT_TRUE(b.is_contiguous(torch::MemoryFormat::ChannelsLast));
  (a.sum() * 2.0 + (b * b).sum()).backward();
  EXPECT_TRUE(a.grad().equal(torch::full({3, 5}, 2.0)));
  EXPECT_NEAR(flat.gradients.square().sum().item<double>(), (60.0 + 4.0 * b.square().sum().item<double>()), 1e-2);
  flat.values.add_(1.0);
  EXPECT_TRUE(a.detach().equal(before + 1.0));
  flat.clear_gradients();
  EXPECT_EQ(b.grad().abs().max().item<double>(), 0.0);
}

TEST(Optimiser, LetsOthersSeeThatWeightsChanged) {
  auto weight = torch::ones({3}).requires_grad_();
  FlatParameters parameters({weight});
  const auto optimiser = Optimiser::make(parameters, {}, std::vector<double>(3, 0.1));
  const auto before = parameters.views[0]._version();
  parameters.gradients.fill_(1.0);
  optimiser->step();
  EXPECT_GT(parameters.views[0]._version(), before);
}

TEST(Optimiser, RejectsWhatMakesNoSense) {
  auto a = torch::zeros({2}).requires_grad_();
  FlatParameters flat({a});
  OptimiserOptions options;
  options.settings["beta2"] = 1.0;
  EXPECT_THROWS(ArgumentError, Optimiser::make(flat, options, {1.0}), "nadam: beta2 should be in [0, 1), found 1");
  options.settings = {{"beta3", 0.5}};
  EXPECT_THROWS(ArgumentError, Optimiser::make(flat, options, {1.0}), "optimiser: there is no setting beta3");
  options.name = "adagrad";
  EXPECT_THROW(Optimiser::make(flat, options, {1.0}), ArgumentError);
}

}  // namespace
}  // namespace priornet
