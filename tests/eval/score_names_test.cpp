#include <gtest/gtest.h>
#include <priornet/uncertainty/measure_table.h>

namespace priornet {
namespace {

TEST(IsConfidence, KnowsTheMeasures) {
  for (const auto* name : {"max_prob", "precision", "odin"}) EXPECT_TRUE(is_confidence(name)) << name;
  for (const auto* name : {"entropy", "expected_entropy", "mutual_information", "differential_entropy", "epkl",
                           "mutual_information_mu_theta", "energy", "", "my_score"})
    EXPECT_FALSE(is_confidence(name)) << name;
}

TEST(IsScore, LeavesOutWhatDoesNotRank) {
  for (const auto* name : {"prediction", "mutual_information_mu_theta_std_err"}) EXPECT_FALSE(is_score(name)) << name;
  for (const auto* name : {"max_prob", "entropy", "", "my_score"}) EXPECT_TRUE(is_score(name)) << name;
}

}  // namespace
}  // namespace priornet
