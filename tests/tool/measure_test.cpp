#include <priornet/learning/columns.h>
#include <priornet/uncertainty/measure_table.h>
#include <testing/fixtures.h>
#include <testing/tool.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using Names = std::vector<std::string>;

const torch::Tensor kLogits =
    torch::tensor({{1.0, 2.0, -1.0}, {0.5, 0.25, 3.0}, {4.0, 4.0, 4.0}, {-2.0, 0.0, 2.0}}, torch::kFloat64);

Names names_of(const std::vector<NamedTensor>& columns) {
  Names names;
  for (const auto& column : columns) names.push_back(column.name);
  return names;
}

// Runs measure with --out and reads the columns back.
std::vector<NamedTensor> measured(const InputFiles& files, Names arguments, const std::string& out = "out.csv") {
  arguments.insert(arguments.begin(), "measure");
  arguments.insert(arguments.end(), {"--out", (files / out).string()});
  const auto [status, text, err] = run_tool(arguments);
  EXPECT_EQ(status, 0) << err;
  return read_columns(files / out);
}

TEST(Measure, PrintsEveryMeasureOfADirichlet) {
  const InputFiles files;
  const auto [status, out, err] = run_tool({"measure", files.npy("a.npy", kLogits), "--kind", "dirichlet"});
  ASSERT_EQ(status, 0) << err;
  EXPECT_EQ(err, "");
  const auto columns = read_columns(files.file("out.csv", out));
  const auto wanted = measure_columns(dirichlet_measures(kLogits));
  ASSERT_EQ(names_of(columns), names_of(wanted));
  EXPECT_GE(columns.size(), 7u);
  for (size_t i = 0; i < columns.size(); ++i)
    EXPECT_TRUE(columns[i].values.to(wanted[i].values.dtype()).equal(wanted[i].values)) << columns[i].name;
}

TEST(Measure, PrintsJson) {
  const InputFiles files;
  const auto [status, out, err] = run_tool({"measure", files.npy("a.npy", kLogits), "--json"});
  ASSERT_EQ(status, 0) << err;
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json.size(), measure_columns(dirichlet_measures(kLogits)).size());
  EXPECT_EQ(json["prediction"], nlohmann::json({1, 2, 0, 2}));
  EXPECT_EQ(json["precision"][0], dirichlet_measures(kLogits).precision[0].item<double>());
}

TEST(Measure, SummarisesWhatItWrites) {
  const InputFiles files;
  const auto logits = files.npy("a.npy", kLogits);
  const auto out_file = (files / "out.json").string();
  const auto table = run_tool({"measure", logits, "--out", out_file});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(table.out.starts_with("measure  ")) << table.out;
  EXPECT_NE(table.out.find("4 rows written to " + out_file), std::string::npos) << table.out;
  EXPECT_EQ(nlohmann::json::parse(bytes_of(out_file))["prediction"], nlohmann::json({1, 2, 0, 2}));

  const auto json = run_tool({"measure", logits, "--out", out_file, "--json"});
  const auto entropy = nlohmann::json::parse(json.out)["measures"]["entropy"];
  const auto sorted = std::get<0>(dirichlet_measures(kLogits).entropy.sort());
  EXPECT_NEAR(entropy["mean"].get<double>(), sorted.mean().item<double>(), 1e-15);
  EXPECT_EQ(entropy["min"], sorted[0].item<double>());
  EXPECT_EQ(entropy["max"], sorted[3].item<double>());
  EXPECT_NEAR(entropy["median"].get<double>(), (sorted[1] + sorted[2]).item<double>() / 2, 1e-15);
}

TEST(Measure, MeasuresSoftmaxModels) {
  const InputFiles files;
  const auto columns = measured(files, {files.npy("a.npy", kLogits), "--kind", "softmax"});
  EXPECT_EQ(names_of(columns), Names({"prediction", "max_prob", "entropy", "energy"}));
  EXPECT_TRUE(columns[2].values.equal(softmax_measures(kLogits).entropy));
  EXPECT_TRUE(columns[3].values.equal(-torch::logsumexp(kLogits, 1)));
}

TEST(Measure, MeasuresEnsemblesFromOneFileOrSeveral) {
  const InputFiles files;
  const auto both = torch::stack({kLogits, -kLogits});
  const auto one = measured(files, {files.npy("both.npy", both), "--kind", "ensemble"});
  const auto several =
      measured(files, {files.npy("a.npy", kLogits), files.npy("b.npy", -kLogits), "--kind", "ensemble"});
  EXPECT_EQ(names_of(one),
            Names({"prediction", "max_prob", "entropy", "expected_entropy", "mutual_information", "energy"}));
  EXPECT_TRUE(one[4].values.equal(ensemble_measures(both).mutual_information));
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].values.equal(several[i].values)) << one[i].name;
}

TEST(Measure, MeasuresEnsemblesOfDirichlets) {
  const InputFiles files;
  const auto both = torch::stack({kLogits, -kLogits});
  const auto columns = measured(files, {files.npy("both.npy", both), "--mu-theta-samples", "16", "--seed", "3"});
  const auto wanted = measure_columns(dirichlet_ensemble_measures(both, {.samples = 16, .seed = 3}));
  ASSERT_EQ(names_of(columns), names_of(wanted));
  EXPECT_EQ(columns.back().name, "mutual_information_mu_theta_std_err");
  for (size_t i = 1; i < columns.size(); ++i) EXPECT_TRUE(columns[i].values.equal(wanted[i].values)) << columns[i].name;
  for (const auto& older : std::vector<std::vector<std::string>>{{"--samples", "16"}, {"--samples=16"}}) {
    std::vector<std::string> words{files.npy("both.npy", both), "--seed", "3"};
    words.insert(words.end(), older.begin(), older.end());
    EXPECT_TRUE(measured(files, words).back().values.equal(wanted.back().values)) << older.front();
  }
}

TEST(Measure, SaysWhatItAssumesAndWhatSpeaksAgainstIt) {
  const InputFiles files;
  const auto said = [&](const torch::Tensor& values) { return run_tool({"measure", files.npy("a.npy", values)}).err; };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const auto plain = said(kLogits);
  EXPECT_TRUE(has(plain, "--kind was not given: the logits are taken as those of Dirichlets")) << plain;
  EXPECT_FALSE(has(plain, "warning")) << plain;
  const auto probabilities = said(torch::softmax(kLogits, 1));
  EXPECT_TRUE(has(probabilities, "a.npy: every row sums to 1, as probabilities do")) << probabilities;
  const auto logarithms = said(torch::log_softmax(kLogits, 1));
  EXPECT_TRUE(has(logarithms, "as for log-probabilities")) << logarithms;
  const auto transposed = said(kLogits.t().contiguous());
  EXPECT_TRUE(has(transposed, "has more columns (4) than rows (3)")) << transposed;
}

TEST(Measure, RefusesLogitsThatAreNotOfTheKind) {
  const InputFiles files;
  const auto one = files.npy("one.npy", kLogits);
  const auto both = files.npy("both.npy", torch::stack({kLogits, -kLogits}));
  expect_failure(run_tool({"measure", one, "--kind", "ensemble"}),
                 one + ": --kind ensemble needs [M, N, K], or one file [N, K] per member, found shape [4, 3]");
  expect_failure(
      run_tool({"measure", both, "--kind", "softmax"}),
      both + ": --kind softmax needs [N, K] of one model (for [M, N, K] use --kind ensemble), found shape [2, 4, 3]");
}

TEST(Measure, RefusesBadLogitsInOneLine) {
  const InputFiles files;
  auto logits = kLogits.clone();
  logits[2][1] = std::numeric_limits<double>::quiet_NaN();
  const auto nan = files.npy("nan.npy", logits);
  expect_failure(run_tool({"measure", nan}),
                 nan + ": logits[2, 1] is nan: row 2, column 1 (counted from 0) should be finite");
  logits[2][1] = std::numeric_limits<double>::infinity();
  const auto infinite = files.npy("inf.npy", logits);
  expect_failure(run_tool({"measure", infinite}),
                 infinite + ": logits[2, 1] is inf: row 2, column 1 (counted from 0) should be finite");
  const auto vector = files.npy("vector.npy", torch::zeros(4));
  expect_failure(run_tool({"measure", vector}),
                 vector + ": logits should be [N, K], or [M, N, K] for an ensemble, found shape [4]");
  const auto single = files.npy("single.npy", torch::zeros({4, 1}));
  expect_failure(run_tool({"measure", single}), single + ": logits should have at least 2 classes, found shape [4, 1]");
}

TEST(Measure, RefusesBadFilesInOneLine) {
  const InputFiles files;
  for (const auto* name : {"empty.npy", "empty.csv"}) {
    const auto empty = files.text(name, "");
    expect_failure(run_tool({"measure", empty}), empty + ": is empty");
  }
  const auto ragged = files.text("ragged.csv", "1,2,3\n1,2,3\n1,2\n");
  expect_failure(run_tool({"measure", ragged}), ragged + ": line 3 has 2 values, line 1 has 3");
  const auto whole = bytes_of(files.npy("whole.npy", kLogits));
  const auto cut = files.text("cut.npy", std::string_view(whole).substr(0, whole.size() - 10));
  expect_failure(run_tool({"measure", cut}),
                 cut + ": [4, 3] needs 96 bytes from byte 128 on, but at most 86 can follow");
  const std::string wanted =
      " is not supported: wanted numbers in little-endian order: float16, float32, float64, integers of any size or "
      "bool";
  const auto structured = fixture("structured.npy").string();
  expect_failure(run_tool({"measure", structured}), structured + ": dtype [('a', '<f4'), ('b', '<i8')]" + wanted);
  const auto big_endian = fixture("big_endian.npy").string();
  expect_failure(run_tool({"measure", big_endian}), big_endian + ": dtype '>f8'" + wanted);
}

TEST(Measure, LeavesNothingBehindWhenItFails) {
  const InputFiles files;
  const auto logits = files.npy("a.npy", kLogits);
  for (const std::string extension : {"csv", "json", "npz"}) {
#ifndef PRIORNET_HAVE_LIBARCHIVE
    if (extension == "npz") continue;
#endif
    const auto missing = (files / ("no/such/folder." + extension)).string();
    expect_failure(run_tool({"measure", logits, "--kind", "softmax", "--out", missing}),
                   missing + ": cannot be written: No such file or directory");
  }
  const auto unknown = (files / "measures.txt").string();
  expect_misuse(run_tool({"measure", logits, "--out", unknown}),
                "--out: " + unknown + " should end in .csv, .json or .npz (see priornet measure --help)");
  const auto bad = files.text("bad.csv", "1,2\nnan,2\n");
  const auto out = files.text("older.csv", "older");
  EXPECT_EQ(run_tool({"measure", bad, "--out", out}).status, 1);
  EXPECT_EQ(bytes_of(out), "older");
  EXPECT_EQ(files.names(), Names({"a.npy", "bad.csv", "older.csv"}));
}

}  // namespace
}  // namespace priornet
