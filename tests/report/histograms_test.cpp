#include <priornet/core/errors.h>
#include <priornet/report/histograms.h>
#include <testing/pictures.h>
#include <testing/throws.h>

#include <limits>

namespace priornet {
namespace {

TEST(Histograms, Render) {
  const auto values = torch::randn({1000}, torch::kFloat64);
  expect_renders(draw_histograms(
      {{"DNN, 'quoted'", "nats", {{"in", values}, {"out", values + 2}}}, {"DPN", "nats", {{"in", values}}}}));
}

// 0, 1, ..., 49 and 50, the greatest, in the last of 50 bins of width 1.
TEST(Histograms, CountSharesOfBins) {
  const auto figure = draw_histograms({{"a", "b", {{"c", torch::arange(51, torch::kFloat64)}}}});
  ASSERT_EQ(figure.files.size(), 1u);
  EXPECT_EQ(figure.files[0].second.substr(0, 12), "0 0.0196078\n");
  EXPECT_NE(figure.files[0].second.find("49 0.0392157\n50 0\n"), std::string::npos);
}

// One of 2001 values far away does not squeeze the others into one bin.
TEST(Histograms, AreNotWidenedByAFewValues) {
  const auto values = torch::cat({torch::tensor({-1e6}, torch::kFloat64), torch::arange(2000, torch::kFloat64)});
  EXPECT_EQ(draw_histograms({{"a", "b", {{"c", values}}}}).files[0].second.substr(0, 2), "1 ");
}

TEST(Histograms, LeaveOutWhatIsNotFinite) {
  const auto infinity = std::numeric_limits<double>::infinity();
  const auto one = torch::tensor({1.0, infinity}, torch::kFloat64);
  EXPECT_EQ(draw_histograms({{"a", "b", {{"c", one}}}}).files[0].second.substr(0, 4), "1 1\n");
  EXPECT_THROWS(ArgumentError, draw_histograms({{"a", "b", {{"c", one.narrow(0, 1, 1)}}}}),
                "draw_histograms: the number of finite values of a panel should be at least 1, found 0");
  EXPECT_THROWS(ArgumentError, draw_histograms({}),
                "draw_histograms: the number of panels should be at least 1, found 0");
}

}  // namespace
}  // namespace priornet
