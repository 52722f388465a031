#include "learning/synthesis/gaussians.h"

#include <priornet/uncertainty/random.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

constexpr double kRegionSigmas = 3.0;

void check(const char* function, const GaussianClasses& classes) {
  check_range(function, "sigma", std::isfinite(classes.sigma) && classes.sigma > 0, "positive", classes.sigma);
  check_range(function, "radius", std::isfinite(classes.radius) && classes.radius > 0, "positive", classes.radius);
}

void check_points(const char* function, const torch::Tensor& points) {
  check_floating(function, "points", points);
  check_rank(function, "points", points, 2);
  check_range(function, "the second size of points", points.size(1) == 2, "2", static_cast<double>(points.size(1)));
}

torch::Tensor squared_distances(const GaussianClasses& classes, const torch::Tensor& points) {
  const auto centres = means(classes).to(points.options());
  return (points.unsqueeze(1) - centres.unsqueeze(0)).square().sum(2);
}

}  // namespace

torch::Tensor means(const GaussianClasses& classes) {
  check("means", classes);
  auto result = torch::empty({GaussianClasses::kClasses, 2}, torch::kFloat64);
  auto value = result.accessor<double, 2>();
  for (int64_t c = 0; c < GaussianClasses::kClasses; ++c) {
    const double angle = std::numbers::pi * (0.5 + 2.0 * static_cast<double>(c) / GaussianClasses::kClasses);
    value[c][0] = classes.radius * std::cos(angle);
    value[c][1] = classes.radius * std::sin(angle);
  }
  return result;
}

LabelledPoints sample(const GaussianClasses& classes, int64_t count, uint64_t seed) {
  check("sample", classes);
  check_range("sample", "count", count >= 0, "at least 0", static_cast<double>(count));
  auto generator = make_generator(seed);
  LabelledPoints result;
  result.labels = torch::randint(GaussianClasses::kClasses, {count}, generator, torch::kInt64);
  result.points = means(classes).to(torch::kFloat32).index_select(0, result.labels) +
                  classes.sigma * torch::randn({count, 2}, generator);
  return result;
}

torch::Tensor log_posterior(const GaussianClasses& classes, const torch::Tensor& points) {
  check("log_posterior", classes);
  check_points("log_posterior", points);
  // |x|^2 is common to all classes and every mean has the same length, so only x . m_c tells them apart. Leaving the
  // common terms out also spares their cancellation far from the origin.
  const auto scores = points.matmul(means(classes).to(points.options()).t()) / (classes.sigma * classes.sigma);
  return scores.log_softmax(1);
}

torch::Tensor posterior_entropy(const GaussianClasses& classes, const torch::Tensor& points) {
  const auto log_probability = log_posterior(classes, points);
  return -(log_probability.exp() * log_probability).sum(1);
}

double bayes_error(const GaussianClasses& classes) {
  check("bayes_error", classes);
  constexpr int kIntervals = 3000;  // Simpson's rule: exact to 1e-11 while sigma <= 30 radius, to 1e-7 at 100 radius
  const double signal = classes.radius / classes.sigma * std::sin(std::numbers::pi / 3);
  const double step = 2.0 * std::numbers::pi / 3 / kIntervals;
  double sum = 0;
  for (int i = 1; i <= kIntervals; ++i) {  // the integrand is 0 at t = 0
    const double ratio = signal / std::sin(i * step);
    const double weight = i == kIntervals ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * std::exp(-0.5 * ratio * ratio);
  }
  return sum * step / 3 / std::numbers::pi;
}

torch::Tensor in_data_region(const GaussianClasses& classes, const torch::Tensor& points) {
  check("in_data_region", classes);
  check_points("in_data_region", points);
  const double reach = kRegionSigmas * classes.sigma;
  return (squared_distances(classes, points) <= reach * reach).any(1);
}

torch::Tensor sample_outside(const GaussianClasses& classes, int64_t count, uint64_t seed) {
  check("sample_outside", classes);
  check_range("sample_outside", "count", count >= 0, "at least 0", static_cast<double>(count));
  // The corners of the square are the points furthest from every mean.
  const double corner = std::numbers::sqrt2 * kHalfSide - classes.radius;
  check_range("sample_outside", "sigma", kRegionSigmas * classes.sigma < corner,
              "small enough that something lies outside", classes.sigma);
  auto generator = make_generator(seed);
  std::vector<torch::Tensor> parts{torch::empty({0, 2})};
  for (int64_t found = 0; found < count;) {
    const auto candidates = torch::rand({count, 2}, generator) * (2 * kHalfSide) - kHalfSide;
    const auto kept = candidates.index({in_data_region(classes, candidates).logical_not()});
    parts.push_back(kept.slice(0, 0, count - found));
    found += parts.back().size(0);
  }
  return torch::cat(parts);
}

}  // namespace priornet
