#include <testing/tool.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

TEST(Bench, MeasuresOnlyWhatIsAskedFor) {
  const TemporaryFolder empty;
  const auto [status, out, err] =
      run_tool({"bench", "--only", "reading", "--data", (empty / "none").string(), "--json"});
  EXPECT_EQ(status, 0) << err;
  const auto all = nlohmann::json::parse(out);
  EXPECT_EQ(all["results"].size(), 0u);
  EXPECT_EQ(all["reading"].size(), 0u);
}

TEST(Bench, PutsOursBesideThePlainWay) {
  const auto [status, out, err] = run_tool({"bench", "--only", "images", "--seconds", "0.001", "--json"});
  EXPECT_EQ(status, 0) << err;
  const auto all = nlohmann::json::parse(out);
  ASSERT_GE(all["results"].size(), 3u);
  for (const auto& line : all["results"]) {
    EXPECT_GT(line["rows_per_second"], 0.0);
    EXPECT_GT(line["plain_rows_per_second"], 0.0);
  }
}

TEST(Bench, TellsWhatUncertaintyCosts) {
  const auto [status, out, err] = run_tool({"bench", "--only", "scoring", "--seconds", "0.001", "--json"});
  EXPECT_EQ(status, 0) << err;
  const auto lines = nlohmann::json::parse(out)["scoring"];
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0]["cost"], 1.0);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto& line = lines[i];
    EXPECT_EQ(line["cost"], lines[0]["images_per_second"].get<double>() / line["images_per_second"].get<double>());
    EXPECT_EQ(line["passes"] == 1, i < 3) << line;  // detectors look at the pass that is made anyway
  }
}

TEST(Bench, ServesInBatchesAndOneByOne) {
  const auto [status, out, err] = run_tool({"bench", "--only", "serve", "--seconds", "0.005", "--json"});
  if (err.find("needs a build with Boost.Beast") != std::string::npos) GTEST_SKIP() << "this build cannot serve";
  EXPECT_EQ(status, 0) << err;
  const auto all = nlohmann::json::parse(out);
  ASSERT_EQ(all["serving"].size(), 3u);
  for (const auto& line : all["serving"])
    for (const auto* how : {"batched", "one_by_one", "at_half_load"}) EXPECT_EQ(line[how]["failed"], 0) << line;
}

TEST(Bench, WantsAtLeastTwoClasses) {
  const auto [status, out, err] = run_tool({"bench", "--only", "measures", "--classes", "10,0"});
  EXPECT_EQ(status, 2);
  EXPECT_EQ(err.rfind("priornet: --classes: should be a whole number from 2 to ", 0), 0u) << err;
}

TEST(Bench, RefusesWhatItCannotMeasure) {
  expect_misuse(run_tool({"bench", "--only", "images,prediction"}),
                "--only prediction: needs --model MODEL (see priornet bench --help)");
  expect_misuse(run_tool({"bench", "--only", "ways"}),
                "--only ways: needs a GPU: --device cuda (see priornet bench --help)");
}

TEST(Bench, RefusesWhatItDoesNotMeasure) {
  const auto [status, out, err] = run_tool({"bench", "--only", "writing"});
  EXPECT_EQ(status, 2);
  EXPECT_EQ(
      err,
      "priornet: --only: writing not in {measures,losses,images,training,ways,scoring,reading,prediction,serve} (see "
      "priornet "
      "bench --help)\n");
}

}  // namespace
}  // namespace priornet
