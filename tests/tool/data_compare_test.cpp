#include <testing/made_up_sets.h>
#include <testing/tool.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

// Rows of numbers: OUT's second column lies far off.
struct TwoTables : InputFiles {
  std::string in = text("in.csv", "age,height\n1,2\n2,3\n3,4\n4,2.5\n");
  std::string out = text("out.csv", "age,height\n1.5,12\n2.5,13\n3.5,14\n4,2.5\n");
};

TEST(DataCompare, PrintsStatisticsAndAVerdict) {
  const TwoTables files;
  const auto [status, out, err] = run_tool({"data", "compare", files.in, files.out});
  ASSERT_EQ(status, 0) << err;
  for (const auto* part : {"50.00 % of the inputs are of OUT\n", "statistic  AUROC %  higher in", "\nheight ", "\nage ",
                           "- height alone partly tells the sets apart: 84.4; a detector should do much better\n",
                           "- 1 input of OUT is also in IN (for example number 3 of OUT and 3 of IN, counted from 0)\n",
                           "- the sets have no class names, so nobody can see whether the sets share classes\n"})
    EXPECT_NE(out.find(part), std::string::npos) << part << " is missing in\n" << out;
  EXPECT_LT(out.find("\nheight "), out.find("\nage ")) << "the strongest first:\n" << out;
}

TEST(DataCompare, PrintsJson) {
  const TwoTables files;
  const auto [status, out, err] = run_tool({"data", "compare", files.in, files.out, "--json"});
  ASSERT_EQ(status, 0) << err;
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["in"]["name"], files.in);
  EXPECT_EQ(json["trivial_statistic"], "height");
  EXPECT_EQ(json["trivial_auroc"], 13.5 / 16);
  EXPECT_EQ(json["exact_duplicates"]["count"], 1);
}

TEST(DataCompare, TakesRowsFromAllOverASet) {
  const TwoTables files;
  const auto [status, out, err] = run_tool({"data", "compare", files.in, files.out, "--limit", "2", "--json"});
  ASSERT_EQ(status, 0) << err;
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["in"]["size"], 2);
  EXPECT_EQ(json["in"]["means"][0], 2);  // of rows 0 and 2
}

TEST(DataCompare, RefusesWhatItCannotCompare) {
  const TwoTables files;
  const auto wide = files.text("wide.csv", "a,b,c\n1,2,3\n");
  expect_failure(run_tool({"data", "compare", files.in, wide}),
                 wide + ": has none of the columns age, height; its columns: a, b, c");
  expect_failure(run_tool({"data", "compare", files.in, files.out, "--invert"}),
                 files.out + ": holds rows of 2 numbers, which cannot be inverted");
}

TEST(DataCompare, FindsSetsInTheNamedRoot) {
  const InputFiles root;
  make_up_semeion(root / "");
  const auto [status, out, err] =
      run_tool({"data", "compare", "semeion,first=2", "semeion", "--json", "--root", (root / "").string()});
  ASSERT_EQ(status, 0) << err;
  EXPECT_EQ(nlohmann::json::parse(out)["in"]["size"], 2);
}

TEST(DataCompare, IsHelpfulAboutMisuse) {
  EXPECT_EQ(run_tool({"data", "compare", "mnist"}).status, 2);
  EXPECT_EQ(run_tool({"data", "compare", "a.csv", "b.csv", "--resample", "lanczos"}).status, 2);
  const auto help = run_tool({"data", "compare", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("priornet data compare mnist:test omniglot"), std::string::npos);
}

}  // namespace
}  // namespace priornet
