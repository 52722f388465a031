#include "tool/experiments/published_cells.h"
#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>

namespace priornet {
namespace {

ResultCell cell(CellMetric metric, const Estimate& ours, double published, const char* outside = "SVHN") {
  ResultCell result;
  result.outside = outside;
  result.model = "DPN";
  result.metric = metric;
  result.ours = ours;
  result.published = published;
  return result;
}

TEST(StandingOf, LooksAtTheIntervalWithinHalfADecimal) {
  const auto auroc = [](double low, double high) {
    return cell(CellMetric::kAuroc, {(low + high) / 2, low, high}, 95);
  };
  EXPECT_EQ(standing_of(auroc(95.2, 96)), Standing::kBetter);
  EXPECT_EQ(standing_of(auroc(95.04, 96)), Standing::kEqual) << "the paper may have rounded";
  EXPECT_EQ(standing_of(auroc(94, 94.96)), Standing::kEqual);
  EXPECT_EQ(standing_of(auroc(94, 94.9)), Standing::kWorse);
}

TEST(StandingOf, WantsFewErrors) {
  const auto error = [](double low, double high) { return cell(CellMetric::kError, {(low + high) / 2, low, high}, 8); };
  EXPECT_EQ(standing_of(error(7, 7.9)), Standing::kBetter);
  EXPECT_EQ(standing_of(error(8, 9)), Standing::kEqual);
  EXPECT_EQ(standing_of(error(8.1, 9)), Standing::kWorse);
  EXPECT_THROW(standing_of({}), ArgumentError);
}

std::vector<ResultCell> some_cells() {
  auto apart = cell(CellMetric::kAuroc, {90, 89, 91}, 95);
  apart.measure = 2;
  apart.counted_apart = true;
  auto ours_alone = cell(CellMetric::kAuroc, {90, 89, 91}, 0);
  ours_alone.published = {};
  return {cell(CellMetric::kError, {7, 6.5, 7.5}, 8, ""), apart,
          cell(CellMetric::kAuroc, {95, 94, 96}, 95),     cell(CellMetric::kAuroc, {94, 93, 94.5}, 95),
          cell(CellMetric::kAupr, {99, 98.5, 99.5}, 95),  ours_alone};
}

TEST(PublishedCount, CountsByKindAndSaysItsRule) {
  const auto table = published_count(some_cells());
  ASSERT_EQ(table.rows.size(), 5u);
  const auto row = [&](size_t i) { return table.rows[i][0].text() + ": " + table.rows[i][1].text(); };
  EXPECT_EQ(row(0), "error: 1 of 1");
  EXPECT_EQ(row(1), "out of distribution, AUROC: 1 of 2");
  EXPECT_EQ(row(2), "out of distribution, AUPR: 1 of 1");
  EXPECT_EQ(row(3), "all: 3 of 4") << "without what is apart";
  EXPECT_EQ(row(4), "M.I. of the DPN, apart: 0 of 1");
  ASSERT_EQ(table.notes.size(), 3u);
  EXPECT_NE(table.notes[0].find("95 % interval reaches the published number"), std::string::npos);
  EXPECT_NE(table.notes[1].find("in balanced sets"), std::string::npos);
  EXPECT_NE(table.notes[2].find("most likely the entropy"), std::string::npos);
  EXPECT_TRUE(published_count({}).rows.empty());
}

TEST(PublishedMisses, NamesEachWithItsDistance) {
  const auto table = published_misses(some_cells(), false);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].back().text(), "apart");
  std::vector<std::string> words;
  for (const auto& cell : table.rows[1]) words.push_back(cell.text());
  EXPECT_EQ(words, (std::vector<std::string>{"SVHN", "DPN", "AUROC", "Max.P", "94.00", "93.00 to 94.50", "95.0",
                                             "-1.00", "yes"}));
}

}  // namespace
}  // namespace priornet
