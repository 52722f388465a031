#include "tool/audit/duplicates.h"
#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Pairs plain(const std::vector<DuplicatePair>& pairs) {
  Pairs plain;
  for (const auto& [out, in] : pairs) plain.emplace_back(out, in);
  return plain;
}

// Smooth random images: noise of 4 x 4, drawn out to 16 x 16.
torch::Tensor pictures(int64_t count, uint64_t seed, int64_t channels = 3) {
  torch::manual_seed(seed);
  const auto coarse = torch::randint(20, 200, {count, channels, 4, 4}, torch::kUInt8);
  return coarse.repeat_interleave(4, 2).repeat_interleave(4, 3).contiguous();
}

TEST(ExactDuplicates, AreFoundBetweenTheSets) {
  const auto in = pictures(40, 1);
  auto out = pictures(30, 2);
  out[3].copy_(in[17]);
  out[29].copy_(in[0]);
  out[7].copy_(in[5]);
  out[7][2][15][15] += 1;
  EXPECT_EQ(plain(exact_duplicates(in, out)), (Pairs{{3, 17}, {29, 0}}));
}

TEST(ExactDuplicates, NameTheFirstMatchAndEveryCopy) {
  auto in = pictures(5, 3);
  in[4].copy_(in[2]);
  const auto out = torch::stack({in[4], in[1], in[2]});
  EXPECT_EQ(plain(exact_duplicates(in, out)), (Pairs{{0, 2}, {1, 1}, {2, 2}}));
  EXPECT_EQ(plain(repeated_inputs(in)), (Pairs{{4, 2}}));
  EXPECT_EQ(plain(repeated_inputs(pictures(50, 4))), Pairs{});
}

TEST(ExactDuplicates, WorkOnRowsOfNumbers) {
  const auto in = torch::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}).reshape({2, 3});
  const auto out = torch::tensor({4.F, 5.F, 6.F, 1.F, 2.F, 4.F}).reshape({2, 3});
  EXPECT_EQ(plain(exact_duplicates(in, out)), (Pairs{{0, 1}}));
}

TEST(ExactDuplicates, OfManyEqualImagesDoNotTakeForever) {
  const auto in = torch::zeros({20000, 1, 8, 8}, torch::kUInt8);
  EXPECT_EQ(exact_duplicates(in, in).size(), 20000u);
  EXPECT_EQ(repeated_inputs(in).size(), 19999u);
}

TEST(ExactDuplicates, RefuseOtherShapes) {
  EXPECT_THROWS(ArgumentError, exact_duplicates(pictures(2, 1), pictures(2, 1, 1)),
                "exact_duplicates: inputs of IN and OUT should be alike, found [2, 3, 16, 16] and [2, 1, 16, 16]");
}

TEST(NearDuplicates, AreCopiesThatWereTouched) {
  const auto in = pictures(40, 5);
  auto out = pictures(30, 6);
  out[1].copy_(in[11]);      // as it is
  out[4].copy_(in[9] + 30);  // brighter
  out[8].copy_(in[21]);      // a noisy pixel
  out[8][1][7][7] = 255;
  out[20].copy_((in[2].to(torch::kFloat32) * 0.95F).to(torch::kUInt8));  // less contrast
  EXPECT_EQ(plain(near_duplicates(in, out)), (Pairs{{1, 11}, {4, 9}, {8, 21}, {20, 2}}));
}

TEST(NearDuplicates, AreNotSeenInUnrelatedImages) {
  EXPECT_EQ(plain(near_duplicates(pictures(2000, 7), pictures(2000, 8))), Pairs{});
  torch::manual_seed(9);
  const auto noise = torch::randint(0, 256, {4000, 1, 12, 12}, torch::kUInt8);
  EXPECT_EQ(plain(near_duplicates(noise.narrow(0, 0, 2000), noise.narrow(0, 2000, 2000))), Pairs{});
}

TEST(NearDuplicates, AreNotSeenInFlatImages) {
  torch::manual_seed(10);
  const auto flat = torch::randint(100, 103, {500, 1, 16, 16}, torch::kUInt8);
  EXPECT_EQ(plain(near_duplicates(flat, flat)), Pairs{});
}

// Alike from afar, with other fine detail: the correlation is 1 / sqrt(1 + 60^2 / 100^2) = 0.857.
TEST(NearDuplicates, AreHeldToThePixels) {
  auto step = torch::zeros({1, 1, 16, 16}, torch::kUInt8);
  step.narrow(3, 8, 8).fill_(100);
  auto striped = step.clone();
  for (int64_t x = 0; x < 16; x += 2) striped.select(3, x) += 60;
  EXPECT_EQ(plain(near_duplicates(step, striped)), Pairs{});
  EXPECT_EQ(plain(near_duplicates(step, striped, {.correlation = 0.86, .flat = 2})), Pairs{});
  EXPECT_EQ(plain(near_duplicates(step, striped, {.correlation = 0.855, .flat = 2})), (Pairs{{0, 0}}));
}

TEST(NearDuplicates, RefuseWhatAreNoImages) {
  EXPECT_THROWS(
      ArgumentError, near_duplicates(torch::zeros({2, 3}), torch::zeros({2, 3})),
      "near_duplicates: IN and OUT should be images uint8 [N, C, H, W] of one shape, found [2, 3] and [2, 3]");
}

TEST(NearDuplicates, RefuseANonsensicalCorrelation) {
  EXPECT_THROWS(ArgumentError, near_duplicates(pictures(1, 1), pictures(1, 1), {.correlation = 1, .flat = 2}),
                "near_duplicates: correlation should be in [0, 1), found 1");
}

TEST(ImageSignatures, KeepBrightnessAndContrastOut) {
  const auto images = pictures(20, 11);
  const auto plain_images = sign_images(images);
  const auto brighter = sign_images(images + 50);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(brighter.means[i], plain_images.means[i] + 50, 1e-9);
    EXPECT_NEAR(brighter.deviations[i], plain_images.deviations[i], 1e-9);
    for (size_t k = 0; k < 44; ++k) EXPECT_NEAR(brighter.signatures[i][k], plain_images.signatures[i][k], 1e-5);
  }
}

// The lowest two frequencies are the slopes across and down; a cosine falls, so a falling slope counts positive.
TEST(ImageSignatures, BeginWithTheSlopes) {
  const auto falling =
      torch::arange(150, -10, -10, torch::kInt64).to(torch::kUInt8).reshape({1, 1, 1, 16}).repeat({1, 1, 16, 1});
  const auto across = sign_images(falling).signatures[0];
  EXPECT_GT(across[0], 0.99F);
  EXPECT_NEAR(across[1], 0, 1e-6);
  EXPECT_LT(sign_images(falling.flip(3)).signatures[0][0], -0.99F);
  EXPECT_GT(sign_images(falling.transpose(2, 3)).signatures[0][1], 0.99F);
}

TEST(ImageSignatures, AreNeverFartherApartThanTheImages) {
  const auto images = pictures(30, 12);
  const auto values = images.to(torch::kFloat64).flatten(1);
  auto units = values - values.mean(1, true);
  units = units / units.norm(2, 1, true);
  const auto signed_images = sign_images(images);
  double closest_bound = 0;
  for (int64_t a = 0; a < 30; ++a)
    for (int64_t b = 0; b < a; ++b) {
      const double apart = (units[a] - units[b]).norm().item<double>();
      double sum = 0;
      for (size_t k = 0; k < 44; ++k)
        sum += std::pow(signed_images.signatures[a][k] - signed_images.signatures[b][k], 2);
      EXPECT_LE(std::sqrt(sum), apart + 1e-6);
      closest_bound = std::max(closest_bound, std::sqrt(sum) / apart);
    }
  EXPECT_GT(closest_bound, 0.4);
}

TEST(SignatureIndex, FindsWhatAPlainSearchFinds) {
  const auto signatures = sign_images(pictures(300, 13, 1)).signatures;
  constexpr float kRadius = 0.9F;
  const SignatureIndex index(signatures, kRadius);
  size_t found_in_all = 0;
  for (const auto& one : signatures) {
    std::vector<int64_t> found;
    index.find(one, [&](int64_t place) { return found.push_back(place), false; });
    std::sort(found.begin(), found.end());
    std::vector<int64_t> wanted;
    for (size_t place = 0; place < signatures.size(); ++place) {
      float sum = 0;
      for (size_t k = 0; k < 44; ++k) sum += (one[k] - signatures[place][k]) * (one[k] - signatures[place][k]);
      if (sum <= kRadius * kRadius) wanted.push_back(static_cast<int64_t>(place));
    }
    EXPECT_EQ(found, wanted);
    found_in_all += found.size();
  }
  EXPECT_GT(found_in_all, 320u);  // more than each image with itself
}

}  // namespace
}  // namespace priornet
