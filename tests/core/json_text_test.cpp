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

TEST(WholeNumberOf, TakesWholeNumbersAlone) {
  EXPECT_EQ(whole_number_of(parse_json("-3")), -3);
  EXPECT_EQ(whole_number_of(parse_json("9223372036854775807")), std::numeric_limits<int64_t>::max());
  for (const auto* text : {"9223372036854775808", "2.5", "2.0", "1e60", "true", "null", R"("2")", "[2]"})
    EXPECT_THROW(whole_number_of(parse_json(text)), nlohmann::json::exception) << text;
}

TEST(WholeNumberOf, TakesAKeyOrWhatStandsInForIt) {
  const auto object = parse_json(R"({"epoch": 4, "rate": 0.1})");
  EXPECT_EQ(whole_number_of(object, "epoch", 1), 4);
  EXPECT_EQ(whole_number_of(object, "members", 1), 1);
  EXPECT_THROW(whole_number_of(object, "rate", 1), nlohmann::json::exception);
}

}  // namespace
}  // namespace priornet
