#include <priornet/learning/method.h>
#include <priornet/learning/optimiser.h>
#include <priornet/learning/outliers.h>
#include <testing/documents.h>

namespace priornet {
namespace {

void expect_named(const std::string& table, std::string_view name) {
  static const auto rows = table_rows("docs/training.md", "| table |");
  EXPECT_NE(row_with(rows, code("[" + table + "]")).find(code(name)), std::string::npos) << name;
}

TEST(TrainingManual, NamesAllThatAConfigurationMaySay) {
  const auto rows = table_rows("docs/training.md", "| method |");
  for (const auto& method : methods()) row_with(rows, code(method.name));
  for (const auto& optimiser : optimisers()) expect_named("training", optimiser.name);
  for (const auto& schedule : schedules()) expect_named("training", schedule.name);
  for (const auto& source : outlier_sources()) expect_named("outside", source.name);
}

}  // namespace
}  // namespace priornet
