#include <priornet/learning/factor_analysis.h>
#include <priornet/uncertainty/errors.h>
#include <testing/tensors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

FactorAnalysis model() {
  return {vector({1, -2, 0.5}), rows({{1, 0.5}, {0, 1}, {-1, 0.25}}), vector({0.1, 0.5, 1}), {}};
}

torch::Tensor covariance_of(const torch::Tensor& samples) {
  const auto centred = samples.to(torch::kFloat64) - samples.to(torch::kFloat64).mean(0);
  return centred.t().matmul(centred) / static_cast<double>(samples.size(0));
}

TEST(SampleFactors, HasTheModelsMeanAndCovarianceAtScaleOne) {
  const auto samples = sample(model(), 400000, {.low = 1, .high = 1}, 3);
  const auto wanted = model().loading.matmul(model().loading.t()) + torch::diag(model().noise);
  EXPECT_EQ(samples.scalar_type(), torch::kFloat32);
  EXPECT_LT((samples.to(torch::kFloat64).mean(0) - model().mean).abs().max().item<double>(), 0.012);
  EXPECT_LT((covariance_of(samples) - wanted).abs().max().item<double>(), 0.03);
}

// Var of x is E[s] = (low + high) / 2 times that of the model.
TEST(SampleFactors, InflatesLatentAndNoiseAlike) {
  const auto samples = sample(model(), 400000, {.low = 0.01, .high = 5, .batch = 1}, 4);
  const auto wanted = 2.505 * (model().loading.matmul(model().loading.t()) + torch::diag(model().noise));
  EXPECT_LT((covariance_of(samples) - wanted).abs().max().item<double>(), 0.1);
}

TEST(SampleFactors, SharesOneScaleInABatch) {
  const auto plain = sample(model(), 1000, {.low = 1, .high = 1, .batch = 128}, 8).to(torch::kFloat64) - model().mean;
  const auto scaled = sample(model(), 1000, {.batch = 128}, 8).to(torch::kFloat64) - model().mean;
  // The draws are the same except for the scale, which is therefore their squared ratio.
  const auto scale = (scaled / plain).square().select(1, 0);
  for (int64_t first = 0; first < 1000; first += 128) {
    const auto batch = scale.slice(0, first, std::min<int64_t>(first + 128, 1000));
    EXPECT_LT((batch - batch[0]).abs().max().item<double>(), 1e-3 * batch[0].item<double>()) << first;
    EXPECT_GT(batch[0].item<double>(), 0.009);
    EXPECT_LT(batch[0].item<double>(), 5.001);
  }
  EXPECT_GT((scale[0] - scale[128]).abs().item<double>(), 1e-3);
  EXPECT_TRUE(sample(model(), 1000, {}, 8).equal(sample(model(), 1000, {}, 8)));
  EXPECT_FALSE(sample(model(), 1000, {}, 8).equal(sample(model(), 1000, {}, 9)));
}

TEST(Squash, BringsEverythingIntoTheInputRange) {
  const auto samples = torch::tensor({-9.0f, -1.0f, 0.25f, 1.5f});
  EXPECT_TRUE(squash(samples, Squash::kClip).equal(torch::tensor({-1.0f, -1.0f, 0.25f, 1.0f})));
  EXPECT_TRUE(near(squash(samples, Squash::kTanh), samples.to(torch::kFloat64).tanh(), 1e-6));
}

TEST(SampleImages, AreTheSquashedSamplesAsGrey) {
  const auto images = sample_images(model(), 50, {1, 1, 3}, {.squash = Squash::kClip, .seed = 2});
  const auto unit = sample(model(), 50, {}, 2).clamp(-1, 1).view({50, 1, 1, 3});
  EXPECT_EQ(images.scalar_type(), torch::kUInt8);
  EXPECT_LE((images.to(torch::kFloat32) / 127.5 - 1 - unit).abs().max().item<double>(), 0.5 / 127.5 + 1e-6);
  EXPECT_THROWS(ArgumentError, sample_images(model(), 5, {1, 2, 2}, {}),
                "sample_images: the number of pixels should be the model's 3, found 4");
}

TEST(SampleFactors, RejectsScalesThatAreNone) {
  EXPECT_THROWS(ArgumentError, sample(model(), 5, {.low = 2, .high = 1}, 0),
                "sample: low should be in [0, 1], found 2");
  EXPECT_THROWS(ArgumentError, sample(model(), 5, {.batch = 0}, 0), "sample: batch should be at least 1, found 0");
  EXPECT_EQ(sample(model(), 0, {}, 0).size(0), 0);
}

}  // namespace
}  // namespace priornet
