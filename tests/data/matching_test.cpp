#include <gtest/gtest.h>
#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

using Names = std::vector<std::string>;

Dataset plants() {
  return {"plants",
          torch::tensor({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}}),
          torch::tensor({0, 1}, torch::kInt64),
          {"elm", "oak"},
          {"height", "age", "width"}};
}

TEST(WithFeatures, TakesColumnsByTheirNamesInTheOrderAskedFor) {
  const auto taken = with_features(plants(), {"width", "height"});
  EXPECT_TRUE(taken.inputs.equal(torch::tensor({{3.0F, 1.0F}, {6.0F, 4.0F}})));
  EXPECT_EQ(taken.feature_names, Names({"width", "height"}));
  EXPECT_EQ(taken.class_names, plants().class_names);
  EXPECT_THROWS(DataError, with_features(plants(), {"width", "weight"}),
                "plants: has no column weight; its columns: height, age, width");
}

TEST(WithFeatures, LeavesASetWithoutNamesAsItIs) {
  auto nameless = plants();
  nameless.feature_names.clear();
  EXPECT_TRUE(with_features(nameless, {"width", "age", "height"}).inputs.equal(plants().inputs));
  EXPECT_TRUE(with_features(plants(), {}).inputs.equal(plants().inputs));
}

TEST(LabelsAmong, KnowsClassesByTheirNames) {
  EXPECT_TRUE(labels_among(plants(), {"oak", "fir", "elm"}, "trees").equal(torch::tensor({2, 0}, torch::kInt64)));
  EXPECT_TRUE(labels_among(plants(), {}, "trees").equal(plants().labels));
  EXPECT_THROWS(DataError, labels_among(plants(), {"elm", "fir"}, "trees"),
                "plants: holds the class oak, which trees does not have");
}

}  // namespace
}  // namespace priornet
