#include <gtest/gtest.h>
#include <priornet/uncertainty/measure_table.h>

#include <set>

namespace priornet {
namespace {

TEST(IsConfidence, KnowsTheMeasures) {
  for (const auto* name : {"max_prob", "precision", "odin"}) EXPECT_TRUE(is_confidence(name)) << name;
  for (const auto* name : {"entropy", "expected_entropy", "mutual_information", "differential_entropy", "epkl",
                           "mutual_information_mu_theta", "energy", "", "my_score"})
    EXPECT_FALSE(is_confidence(name)) << name;
}

TEST(MeasureTable, HasALabelForEveryNameOnce) {
  std::set<std::string_view> names, labels;
  for (const auto& measure : measure_table()) {
    EXPECT_TRUE(names.insert(measure.name).second) << measure.name;
    EXPECT_FALSE(measure.label.empty()) << measure.name;
    EXPECT_TRUE(labels.insert(measure.label).second) << measure.label;
    EXPECT_EQ(find_measure_by_name(measure.name), &measure);
  }
  EXPECT_EQ(find_measure_by_name("my_score"), nullptr);
}

TEST(IsScore, LeavesOutWhatDoesNotRank) {
  for (const auto* name : {"prediction", "mutual_information_mu_theta_std_err"}) EXPECT_FALSE(is_score(name)) << name;
  for (const auto* name : {"max_prob", "entropy", "", "my_score"}) EXPECT_TRUE(is_score(name)) << name;
}

}  // namespace
}  // namespace priornet
