#include "learning/base/json_text.h"

#include <gtest/gtest.h>
#include <priornet/uncertainty/detection.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

TEST(JsonText, HoldsAnEstimateUnderTheKeysThatFilesHave) {
  EXPECT_EQ(json_text(estimate_json({0.5, 0.25, 0.75})), R"({"value":0.5,"low":0.25,"high":0.75})");
}

TEST(JsonText, WritesWhatIsNotFiniteAsNullAndReadsItAsNaN) {
  constexpr auto kInfinity = std::numeric_limits<double>::infinity();
  const auto text = json_text(estimate_json({0.5, -kInfinity, std::nan("")}));
  EXPECT_EQ(text, R"({"value":0.5,"low":null,"high":null})");
  const auto read = estimate_of(parse_json(text));
  EXPECT_EQ(read.value, 0.5);
  EXPECT_TRUE(std::isnan(read.low));
  EXPECT_TRUE(std::isnan(read.high));
}

TEST(JsonText, RefusesAnEstimateThatLacksAPartOrHasAWordInIt) {
  EXPECT_THROW(estimate_of(parse_json(R"({"value":1,"low":0})")), nlohmann::json::exception);
  EXPECT_THROW(estimate_of(parse_json(R"({"value":1,"low":0,"high":"two"})")), nlohmann::json::exception);
}

}  // namespace
}  // namespace priornet
