#include <testing/tensors.h>
#include "tool/report/image_sheets.h"
#include "tool/report/page.h"

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

/// Five grey images of 2x2 whose pixels are all their number; the Dirichlet of image i has alpha (1 + i, 1).
struct NumberedImages {
  Dataset set{"numbers",
              torch::arange(5, torch::kUInt8).reshape({5, 1, 1, 1}).expand({5, 1, 2, 2}).contiguous(),
              torch::tensor({0, 1, 0, 0, 0}, torch::kInt64),
              {"a", "b"},
              {}};
  SetScores scores =
      scores_of_logits(torch::stack({torch::arange(1, 6).to(torch::kFloat32), torch::ones({5})}, 1).log(), true);
};

TEST(CertaintyImages, AreTheMostAndTheLeastCertainOfEachSet) {
  const NumberedImages numbered;
  const auto json = nlohmann::json::parse(
      certainty_json({{"inside", &numbered.set, &numbered.scores}}, {.seed = 2, .model = "DPN", .count = 2}));
  EXPECT_EQ(json["measure"], "differential_entropy");
  EXPECT_EQ(json["shape"], nlohmann::json::array({1, 2, 2}));
  const auto& set = json["sets"][0];
  EXPECT_EQ(set["pixels"], base64(std::string("\4\4\4\4\3\3\3\3\1\1\1\1\0\0\0\0", 16)));
  EXPECT_EQ(set["images"][0]["alpha"], nlohmann::json::array({5.0, 1.0}));
  EXPECT_EQ(set["images"][0]["class"], 0);
  EXPECT_EQ(set["images"][0]["label"], 0);
  EXPECT_EQ(set["images"][2]["label"], 1);
  EXPECT_LT(set["images"][0]["value"], set["images"][3]["value"]);
}

TEST(CertaintyImages, ShowProbabilitiesOfAModelWithoutAPrecision) {
  NumberedImages numbered;
  numbered.scores = scores_of_logits(torch::tensor({{2.0f, 0.0f}, {0.0f, 0.0f}}), false);
  numbered.set = select(numbered.set, torch::tensor({0, 1}, torch::kInt64));
  const auto json =
      nlohmann::json::parse(certainty_json({{"inside", &numbered.set, &numbered.scores}}, {.seed = 1, .model = "DNN"}));
  EXPECT_EQ(json["measure"], "entropy");
  EXPECT_EQ(json["sets"][0]["images"].size(), 2u) << "no image is both";
  EXPECT_NEAR(json["sets"][0]["images"][0]["p"][0].get<double>(), 0.8808, 1e-4);
}

}  // namespace
}  // namespace priornet
