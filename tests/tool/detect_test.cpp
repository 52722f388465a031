#include <testing/tool.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using Names = std::vector<std::string>;

// The hand-computed example of tests/eval/roc_test.cpp: AUROC 12.5 / 16, FPR95 3 / 4.
TEST(Detect, PrintsPercentAndIntervals) {
  const InputFiles files;
  const auto ood = files.npy("ood.npy", torch::tensor({0.9, 0.8, 0.8, 0.3}));
  const auto in = files.npy("in.npy", torch::tensor({0.8, 0.5, 0.3, 0.1}));
  const auto [status, out, err] = run_tool({"detect", "--positive", ood, "--negative", in, "--replicates", "100"});
  EXPECT_EQ(status, 0) << err;
  EXPECT_EQ(err, "");
  EXPECT_TRUE(out.starts_with("score  ")) << out;
  for (const auto* part : {"\nscore  78.12 [", "  83.39 [", "  76.79 [", "  75.00 [",
                           "4 positives, 4 negatives: "
                           "prevalence 50.00 %\n",
                           "bootstrap, 100 replicates, seed 0"})
    EXPECT_NE(out.find(part), std::string::npos) << part << " is missing in\n" << out;
}

TEST(Detect, PrintsJsonAtFullPrecision) {
  const InputFiles files;
  const auto ood = files.text("ood.csv", "entropy\n0.9\n0.8\n0.8\n0.3\n");
  const auto in = files.text("in.csv", "entropy\n0.8\n0.5\n0.3\n0.1\n");
  const auto out_file = (files / "result.json").string();
  const auto [status, out, err] = run_tool({"detect", "--positive", ood, "--negative", in, "--replicates", "100",
                                            "--seed", "7", "--json", "--out", out_file});
  ASSERT_EQ(status, 0) << err;
  EXPECT_EQ(bytes_of(out_file), out);
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["positive"], ood);
  EXPECT_EQ(json["seed"], 7);
  ASSERT_EQ(json["scores"].size(), 1u);
  const auto& score = json["scores"][0];
  EXPECT_EQ(score["score"], "entropy");
  EXPECT_EQ(score["negated"], false);
  EXPECT_EQ(score["positives"], 4);
  EXPECT_EQ(score["prevalence"], 0.5);
  EXPECT_EQ(score["replicates"], 100);
  EXPECT_EQ(score["auroc"]["value"], 12.5 / 16);
  EXPECT_EQ(score["fpr95"]["value"], 0.75);
  EXPECT_NEAR(score["average_precision"]["value"].get<double>(), 0.25 + 0.5 * 0.75 + 0.25 * 4 / 7, 1e-15);
  EXPECT_NEAR(score["aupr"]["value"].get<double>(), 0.25 + 0.4375 + 0.25 * (0.6 + 4.0 / 7) / 2, 1e-15);
  for (const auto* metric : {"auroc", "aupr", "aupr_balanced", "average_precision", "fpr95"}) {
    EXPECT_LE(score[metric]["low"], score[metric]["value"]);
    EXPECT_GE(score[metric]["high"], score[metric]["value"]);
  }
}

TEST(Detect, TakesEveryScoreThatBothFilesHave) {
  const InputFiles files;
  const auto ood = files.text("ood.csv", "prediction,max_prob,entropy,epkl\n1,0.5,0.7,1\n0,0.6,0.6,2\n");
  const auto in = files.text("in.csv", "prediction,entropy,max_prob\n1,0.1,0.9\n1,0.2,0.8\n0,0.3,0.7\n");
  const auto [status, out, err] = run_tool({"detect", "--positive", ood, "--negative", in, "--json"});
  ASSERT_EQ(status, 0) << err;
  const auto scores = nlohmann::json::parse(out)["scores"];
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0]["score"], "max_prob");
  EXPECT_EQ(scores[0]["negated"], true);
  EXPECT_EQ(scores[0]["auroc"]["value"], 1.0);
  EXPECT_EQ(scores[1]["score"], "entropy");
  EXPECT_EQ(scores[1]["negated"], false);
  EXPECT_EQ(scores[1]["auroc"]["value"], 1.0);
}

TEST(Detect, SaysWhichDirectionItUsed) {
  const InputFiles files;
  const auto ood = files.text("ood.csv", "max_prob,entropy\n0.5,0.7\n0.6,0.6\n");
  const auto in = files.text("in.csv", "max_prob,entropy\n0.9,0.1\n0.8,0.2\n");
  const Names command = {"detect", "--positive", ood, "--negative", in};
  auto plain = run_tool(command);
  EXPECT_NE(plain.out.find("max_prob is a confidence: negated\n"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find("\nmax_prob  100.00 ["), std::string::npos) << plain.out;
  auto negate = command;
  negate.push_back("--negate");
  auto negated = run_tool(negate);
  EXPECT_NE(negated.out.find("max_prob is a confidence: taken unchanged (--negate)\n"), std::string::npos)
      << negated.out;
  EXPECT_NE(negated.out.find("entropy: negated (--negate)\n"), std::string::npos) << negated.out;
  EXPECT_NE(negated.out.find("\nmax_prob  0.00 ["), std::string::npos) << negated.out;
}

TEST(Detect, KnowsTheConfidencesThatPredictWrites) {
  const InputFiles files;
  for (const std::string score : {"probability", "p_value"}) {
    const auto ood = files.text("ood.csv", score + "\n0.5\n0.6\n");
    const auto in = files.text("in.csv", score + "\n0.9\n0.8\n");
    const auto [status, out, err] = run_tool({"detect", "--positive", ood, "--negative", in});
    EXPECT_NE(out.find(score + " is a confidence: negated\n"), std::string::npos) << out;
  }
}

TEST(Detect, LeavesOutColumnsOfTexts) {
  const InputFiles files;
  const auto ood =
      files.text("ood.csv", "input,prediction,entropy,verdict\na.png,cat,0.7,unfamiliar\nb.png,dog,0.6,\n");
  const auto in =
      files.text("in.csv", "input,prediction,entropy,verdict\nc.png,cat,0.1,accepted\nd.png,cat,0.2,accepted\n");
  const auto [status, out, err] = run_tool({"detect", "--positive", ood, "--negative", in});
  EXPECT_EQ(status, 0) << err;
  EXPECT_NE(out.find("\nentropy  100.00 ["), std::string::npos) << out;
  EXPECT_NE(err.find("ood.csv: not scores, but texts: input, prediction, verdict\n"), std::string::npos) << err;
}

TEST(Detect, DoesNotWriteOverItsScores) {
  const InputFiles files;
  const auto ood = files.text("ood.csv", "entropy\n0.5\n0.6\n");
  const auto in = files.text("in.csv", "entropy\n0.1\n0.2\n");
  const auto [status, out, err] = run_tool({"detect", "--positive", ood, "--negative", in, "--out", in});
  EXPECT_EQ(status, 2);
  EXPECT_NE(err.find("in.csv is also an input, and would be lost"), std::string::npos) << err;
  EXPECT_EQ(bytes_of(in), "entropy\n0.1\n0.2\n");
}

// Two pairs in the right order: AUROC is at least sqrt(0.05), with 95 % certainty.
TEST(Detect, WritesATableByExtension) {
  const InputFiles files;
  const auto ood = files.text("ood.csv", "2\n3\n");
  const auto in = files.text("in.csv", "entropy\n0\n1\n");
  const auto out_file = files / "result.csv";
  EXPECT_EQ(run_tool({"detect", "--positive", ood, "--negative", in, "--out", out_file.string()}).status, 0);
  EXPECT_EQ(
      bytes_of(out_file),
      "score,negated,positives,negatives,prevalence,replicates,auroc,auroc_low,auroc_high,aupr,aupr_low,aupr_high,"
      "average_precision,average_precision_low,average_precision_high,fpr95,fpr95_low,fpr95_high,"
      "aupr_balanced,aupr_balanced_low,aupr_balanced_high\n"
      "entropy,0,2,2,0.5,1000,1,0.22360679774997896,1,1,1,1,1,1,1,0,0,0,1,1,1\n");
}

TEST(Detect, ListsTheColumnsWhenTheScoreIsNotThere) {
  const InputFiles files;
  const auto named = files.text("named.csv", "entropy,max_prob\n1,2\n");
  const auto other = files.text("other.csv", "epkl\n1\n");
  expect_failure(run_tool({"detect", "--positive", named, "--negative", other, "--score", "epkl"}),
                 named + ": has no column epkl; its columns: entropy, max_prob");
  expect_failure(
      run_tool({"detect", "--positive", named, "--negative", other}),
      named + " and " + other + " share no score column: the first has entropy, max_prob; the second has epkl");
}

TEST(Detect, RefusesEmptySets) {
  const InputFiles files;
  const auto header = files.text("header.csv", "entropy\n");
  const auto some = files.text("some.csv", "entropy\n1\n");
  const auto nothing = files.text("nothing.csv", "");
  const auto none = files.npy("none.npy", torch::zeros(0));
  expect_failure(run_tool({"detect", "--positive", header, "--negative", some}),
                 header + ": holds no scores: the positive set is empty");
  expect_failure(run_tool({"detect", "--positive", some, "--negative", header}),
                 header + ": holds no scores: the negative set is empty");
  expect_failure(run_tool({"detect", "--positive", some, "--negative", none}),
                 none + ": holds no scores: the negative set is empty");
  expect_failure(run_tool({"detect", "--positive", nothing, "--negative", some}), nothing + ": is empty");
}

TEST(Detect, NamesTheRowThatIsNotANumber) {
  const InputFiles files;
  const auto some = files.text("some.csv", "entropy\n1\n");
  const auto nan = files.text("nan.csv", "entropy\n1\n2\nnan\n");
  expect_failure(run_tool({"detect", "--positive", some, "--negative", nan}),
                 nan + ": entropy[2] is nan: row 2 (counted from 0) should be a number");
}

TEST(Detect, LeavesNothingBehindWhenItFails) {
  const InputFiles files;
  const auto some = files.text("some.csv", "1\n");
  const auto missing = (files / "no/such/folder.json").string();
  expect_failure(run_tool({"detect", "--positive", some, "--negative", some, "--out", missing}),
                 missing + ": cannot be written: No such file or directory");
  const auto unknown = (files / "result.txt").string();
  expect_misuse(run_tool({"detect", "--positive", some, "--negative", some, "--out", unknown}),
                "--out: " + unknown + " should end in .json or .csv (see priornet detect --help)");
  EXPECT_EQ(files.names(), Names{"some.csv"});
}

}  // namespace
}  // namespace priornet
