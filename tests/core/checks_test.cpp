#include "uncertainty/core/checks.h"
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

TEST(CheckLogits, TakesMatricesOfAtLeastTwoClasses) {
  EXPECT_NO_THROW(check_logits("f", "logits", torch::zeros({0, 2})));
  EXPECT_NO_THROW(check_logits("f", "logits", torch::zeros({5, 10}, torch::kFloat64)));
}

TEST(CheckLogits, SaysWhatWasWantedAndFound) {
  EXPECT_THROWS(ArgumentError, check_logits("f", "logits", torch::zeros({5, 1})),
                "f: logits should be [N, K] with at least 2 classes, found shape [5, 1]");
  EXPECT_THROWS(ArgumentError, check_logits("f", "logits", torch::zeros({5, 2}, torch::kInt64)),
                "f: logits should be float32 or float64, found Long");
  EXPECT_THROWS(ArgumentError, check_logits("f", "logits", torch::Tensor()),
                "f: logits should be a tensor, found none");
}

TEST(CheckEnsemble, WantsThreeDimensions) {
  EXPECT_NO_THROW(check_ensemble("f", "logits", torch::zeros({1, 0, 2})));
  EXPECT_THROWS(ArgumentError, check_ensemble("f", "logits", torch::zeros({5, 2})),
                "f: logits should be [M, N, K] with at least 1 member and 2 classes, found shape [5, 2]");
}

TEST(CheckLabels, NamesTheOffendingLabel) {
  EXPECT_NO_THROW(check_labels("f", "labels", torch::tensor({0, 2}, torch::kInt64), 2, 3));
  EXPECT_THROWS(ArgumentError, check_labels("f", "labels", torch::tensor({0, 3}, torch::kInt64), 2, 3),
                "f: labels should be in [0, 3), found 3");
  EXPECT_THROWS(ArgumentError, check_labels("f", "labels", torch::tensor({-1, 1}, torch::kInt64), 2, 3),
                "f: labels should be in [0, 3), found -1");
  EXPECT_THROWS(ArgumentError, check_labels("f", "labels", torch::tensor({0, 1}, torch::kInt32), 2, 3),
                "f: labels should be int64, found Int");
}

TEST(CheckSameShape, ShowsBothShapes) {
  EXPECT_THROWS(ArgumentError, check_same_shape("f", "q", torch::zeros({2, 3}), "p", torch::zeros({2, 4})),
                "f: q should be shaped like p (shape [2, 4]), found shape [2, 3]");
}

}  // namespace
}  // namespace priornet
