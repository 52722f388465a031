#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <cmath>

namespace priornet {
namespace {

Dataset numbers(int64_t count) {
  Dataset set;
  set.name = "counted";
  set.inputs = torch::arange(count, torch::kFloat32).unsqueeze(1);
  set.labels = torch::arange(count) % 2;
  set.class_names = {"even", "odd"};
  return set;
}

TEST(RandomSubset, DrawsEachRowAtMostOnceInOrder) {
  const auto set = numbers(1000);
  const auto subset = random_subset(set, 300, 4);
  const auto rows = subset.inputs.squeeze(1);
  EXPECT_EQ(subset.size(), 300);
  EXPECT_TRUE((rows.slice(0, 1) > rows.slice(0, 0, -1)).all().item<bool>());
  EXPECT_TRUE(subset.labels.equal(rows.to(torch::kInt64) % 2));
  EXPECT_TRUE(random_subset(set, 300, 4).inputs.equal(subset.inputs));
  EXPECT_FALSE(random_subset(set, 300, 5).inputs.equal(subset.inputs));
  EXPECT_TRUE(random_subset(set, 1000, 4).inputs.equal(set.inputs));
  // A uniform draw of 300 from 0..999 has mean 499.5 and, without replacement, this standard error.
  EXPECT_NEAR(rows.mean().item<double>(), 499.5, 5 * 288.7 / std::sqrt(300.0) * std::sqrt(0.7));
}

TEST(RandomSubset, RefusesMoreThanThereIs) {
  EXPECT_THROWS(DataError, random_subset(numbers(5), 6, 0), "counted: has 5 rows, but a subset of 6 was asked for");
}

}  // namespace
}  // namespace priornet
