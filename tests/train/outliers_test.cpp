#include <gtest/gtest.h>
#include <priornet/learning/outliers.h>
#include <priornet/uncertainty/random.h>

namespace priornet {
namespace {

// Columns 0 and 1 share a factor of variance 4; column 2 is noise of variance 1.
Dataset rows_with_a_factor() {
  auto generator = make_generator(3);
  const auto factor = 2 * torch::randn({4000, 1}, generator);
  const auto noise = torch::randn({4000, 3}, generator);
  Dataset set;
  set.name = "rows";
  set.inputs = noise * torch::tensor({0.1, 0.1, 1.0}) + factor * torch::tensor({1.0, 1.0, 0.0});
  set.labels = torch::zeros({4000}, torch::kInt64);
  set.class_names = {"a", "b"};
  return set;
}

std::array<double, 2> variances_with(double factor_variance) {
  OutsideOptions options;
  options.source = kFactorAnalysis;
  options.settings = {{"latent", 1}, {"scale_low", 1}, {"scale_high", 1}, {"factor_variance", factor_variance}};
  const auto train = rows_with_a_factor();
  NoProgress progress;
  const auto source = make_outside(options, {train, torch::kCPU, 5, progress, {}});
  // Every second row lies farther out on purpose.
  const auto rows = source->batch({0, 20'000, 0, 20'000}).slice(0, 0, 20'000, 2);
  const auto variance = rows.var(0, false);
  return {variance[0].item<double>(), variance[2].item<double>()};
}

TEST(FactorAnalysisOutliers, CanBeWiderAlongTheFactorsThanInTheNoise) {
  const auto fitted = variances_with(1.0);
  const auto wider = variances_with(9.0);
  EXPECT_NEAR(wider[0] / fitted[0], 9.0, 0.2);
  EXPECT_NEAR(wider[1] / fitted[1], 1.0, 0.02);
}

}  // namespace
}  // namespace priornet
