#include <gtest/gtest.h>
#include <priornet/uncertainty/measure_table.h>
#include <testing/documents.h>

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

TEST(MeasureTable, NamesByDirection) {
  EXPECT_EQ(measure_names(Direction::kConfidence), (std::vector<std::string_view>{"max_prob", "precision", "odin"}));
}

TEST(MeasureTable, HasTheColumnsThatLogitsOfEachKindGive) {
  for (const auto kind : {LogitKind::kSoftmax, LogitKind::kDirichlet})
    for (const bool ensemble : {false, true}) {
      const auto logits = torch::randn(ensemble ? std::vector<int64_t>{2, 3, 4} : std::vector<int64_t>{3, 4});
      std::vector<std::string> names;
      for (const auto& [name, values] : measure_columns(logits, kind)) {
        names.push_back(name);
        EXPECT_EQ(values.sizes(), torch::IntArrayRef({3})) << name;
      }
      EXPECT_EQ(names, measure_names(kind, ensemble));
    }
  EXPECT_EQ(measure_names(LogitKind::kSoftmax, false), (std::vector<std::string>{"prediction", "max_prob", "entropy"}));
  EXPECT_EQ(measure_columns(torch::randn({2, 3, 4}), LogitKind::kDirichlet, {0, 0}).size() + 2,
            measure_names(LogitKind::kDirichlet, true).size())
      << "an estimate that was not asked for is left out";
}

// Equal concentrations, from hardly any evidence to much, reach every bound.
TEST(MeasureTable, HasTheLeastBoundOfEachMeasure) {
  for (const int64_t classes : {2, 3, 50}) {
    const auto equal = torch::tensor({-30.0, 0.0, 30.0}, torch::kFloat64).unsqueeze(1).expand({3, classes});
    const auto logits = torch::cat({equal, 8 * torch::randn({1000, classes}, torch::kFloat64)});
    for (const auto& [name, values] : measure_columns(dirichlet_measures(logits))) {
      const auto* measure = find_measure_by_name(name);
      if (measure->bound == nullptr) continue;
      EXPECT_NEAR(values.max().item<double>(), measure->bound(static_cast<double>(classes)), 1e-9) << name;
    }
  }
}

TEST(MeasureTable, IsWhatTheReadmeSays) {
  const auto rows = table_rows("docs/measures.md", "| column of `measure` |");
  for (const auto& measure : measure_table()) {
    const bool is_column = measure.softmax != nullptr || measure.dirichlet_ensemble != nullptr;
    if (!is_column || !is_score(measure.name)) continue;
    const auto row = row_with(rows, code(measure.name));
    EXPECT_NE(row.find(std::string(name_of(measure.cause)) + " uncertainty"), std::string::npos)
        << measure.name << " in '" << row << "'";
  }
}

TEST(MeasureTable, HasItsFormulasAndItsAccuracyInTheMathematics) {
  const auto text = document("docs/math.md");
  for (const auto& measure : measure_table()) {
    EXPECT_NE(text.find("\n## " + std::string(measure.section) + ". "), std::string::npos) << measure.name;
    if (measure.dirichlet == nullptr || !is_score(measure.name)) continue;
    for (const auto* head : {"| float64 |", "| float32 |", "| | K = 8 |"})
      EXPECT_NE(row_with(table_rows("docs/math.md", head), std::string(measure.name)), "") << head;
  }
}

TEST(IsScore, LeavesOutWhatDoesNotRank) {
  for (const auto* name : {"prediction", "mutual_information_mu_theta_std_err"}) EXPECT_FALSE(is_score(name)) << name;
  for (const auto* name : {"max_prob", "entropy", "", "my_score"}) EXPECT_TRUE(is_score(name)) << name;
}

}  // namespace
}  // namespace priornet
