#include <gtest/gtest.h>
#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/errors.h>

namespace priornet {
namespace {

TEST(ChannelStatistics, AreExactForImages) {
  Dataset set;
  // Channel 0 is 1 and 3 by turns, channel 1 is 255.
  set.inputs = torch::full({3000, 2, 2, 1}, 255, torch::kUInt8);
  set.inputs.select(1, 0).copy_(torch::tensor({1, 3}).reshape({2, 1}));
  const auto statistics = channel_statistics(set);
  ASSERT_EQ(statistics.size(), 2u);
  EXPECT_EQ(statistics[0].mean, 2);
  EXPECT_EQ(statistics[0].standard_deviation, 1);
  EXPECT_EQ(statistics[0].minimum, 1);
  EXPECT_EQ(statistics[0].maximum, 3);
  EXPECT_EQ(statistics[1].mean, 255);
  EXPECT_EQ(statistics[1].standard_deviation, 0);
}

TEST(ChannelStatistics, AreByColumnForNumbers) {
  Dataset set;
  set.inputs = torch::tensor({1.f, -5.f, 3.f, -5.f}).reshape({2, 2});
  const auto statistics = channel_statistics(set);
  ASSERT_EQ(statistics.size(), 2u);
  EXPECT_EQ(statistics[0].mean, 2);
  EXPECT_EQ(statistics[0].standard_deviation, 1);
  EXPECT_EQ(statistics[1].minimum, -5);
  set.inputs = torch::zeros({0, 2});
  EXPECT_THROW(channel_statistics(set), DataError);
}

}  // namespace
}  // namespace priornet
