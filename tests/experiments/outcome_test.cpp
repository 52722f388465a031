#include <testing/temporary_folder.h>
#include "tool/experiments/experiment.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

std::vector<ExperimentOutcome> two_outcomes() {
  ExperimentOutcome done;
  done.name = "mnist";
  done.seconds = 12.25;
  done.summary.headlines = {{"DPN: error, %", "0.55 ± 0.10", 0.6}, {"OE: error, %", "0.50 ± 0.10", std::nullopt}};
  ExperimentOutcome failed;
  failed.name = "svhn";
  failed.seconds = 0.5;
  failed.error = "svhn (train) is not there";
  return {done, failed};
}

TEST(Outcomes, ShowHeadlinesTimesAndFailures) {
  const auto tables = outcome_tables(two_outcomes());
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].rows[0][2].text(), "0.55 ± 0.10");
  EXPECT_EQ(tables[0].rows[0][3].value(), 0.6);
  EXPECT_EQ(tables[0].rows[1][3].text(), "-");
  EXPECT_EQ(tables[1].rows[1][2].text(), "failed: svhn (train) is not there");
  EXPECT_EQ(tables[1].rows[2][1].value(), 12.75);
}

TEST(Outcomes, AreWrittenWithTheCommand) {
  const TemporaryFolder folder;
  const auto files = write_outcomes(two_outcomes(), "priornet reproduce all", folder / "out");
  EXPECT_EQ(files.size(), 2u);
  const auto json = nlohmann::json::parse(bytes_of(folder / "out" / "summary.json"));
  EXPECT_EQ(json["command"], "priornet reproduce all");
  EXPECT_EQ(json["tables"][1]["rows"][0]["wall time, s"], 12.25);
  EXPECT_NE(bytes_of(folder / "out" / "summary.md").find("| svhn | 0.5 | failed: "), std::string::npos);
}

}  // namespace
}  // namespace priornet
