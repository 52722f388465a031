#include <gtest/gtest.h>
#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

Dataset of_classes(const std::string& name, const std::vector<std::string>& classes) {
  const auto count = static_cast<int64_t>(classes.size());
  return {name,
          torch::arange(count).to(torch::kFloat32).reshape({count, 1}),
          torch::arange(count, torch::kInt64),
          classes,
          {}};
}

TEST(Concatenate, KnowsClassesByTheirNames) {
  const auto whole = concatenate({of_classes("one", {"cat", "dog"}), of_classes("two", {"frog", "cat"})});
  EXPECT_EQ(whole.name, "one");
  EXPECT_EQ(whole.class_names, (std::vector<std::string>{"cat", "dog", "frog"}));
  EXPECT_TRUE(whole.labels.equal(torch::tensor({0, 1, 2, 0}, torch::kInt64)));
  EXPECT_EQ(whole.inputs.sizes(), (std::vector<int64_t>{4, 1}));
}

TEST(Concatenate, LeavesALoneSetAsItIs) {
  const auto set = of_classes("one", {"cat"});
  EXPECT_EQ(concatenate({set}).inputs.data_ptr(), set.inputs.data_ptr());
}

TEST(Concatenate, RejectsSetsThatDiffer) {
  auto wide = of_classes("wide", {"cat"});
  wide.inputs = torch::zeros({1, 2});
  EXPECT_THROWS(DataError, concatenate({of_classes("one", {"cat"}), wide}),
                "wide: inputs should have the shape and dtype of one");
  auto unlabelled = of_classes("unlabelled", {"cat"});
  unlabelled.labels = torch::Tensor();
  EXPECT_THROWS(DataError, concatenate({of_classes("one", {"cat"}), unlabelled}),
                "unlabelled: has no labels, unlike one");
  EXPECT_THROW(concatenate({}), ArgumentError);
}

}  // namespace
}  // namespace priornet
