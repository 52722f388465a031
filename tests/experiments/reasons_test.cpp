#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_experiment.h>
#include <testing/throws.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tool/experiments/experiment.h"
#include "tool/experiments/reasons.h"
#include "tool/experiments/reasons_figures.h"
#include "tool/experiments/stored_images.h"

namespace priornet {
namespace {

std::vector<std::string> models_of(const ImageExperiment& experiment) {
  std::vector<std::string> names;
  for (const auto& model : experiment.models) names.push_back(model.name);
  return names;
}

TEST(ReasonsPlan, HasBothDivergencesAndAnEnsembleOfDnns) {
  const auto plan = reasons_plan({Profile::kModern, 1, {}});
  EXPECT_EQ(models_of(plan.models),
            (std::vector<std::string>{"DNN", "OE", "DPN reverse", "DPN forward", "DPN distilled", "DNN ensemble",
                                      "OE ensemble", "DPN ensemble"}));
  EXPECT_EQ(plan.models.models[3].config.method.name, "dpn");
  EXPECT_EQ(plan.models.models[3].run, "seed-1/dpn-forward");
  EXPECT_EQ(plan.models.models[5].config.members, 5);
  EXPECT_EQ(plan.people, "cifar10h");
  EXPECT_EQ(plan.models.inside, "cifar10:test");
  EXPECT_EQ(models_of(reasons_plan({Profile::kModern, 2, {}, 1}).models),
            (std::vector<std::string>{"DNN", "OE", "DPN reverse", "DPN forward", "DPN distilled"}))
      << "ensembles are of the first seed";
}

TEST(ReasonsPlan, UsesTheNetworksOfCifar10) {
  const ImagePlanOptions options{Profile::kModern, 3, {}};
  auto plan = reasons_plan(options);
  const auto other = cifar10_experiment(options);
  std::erase_if(plan.models.models, [](const PlannedModel& model) { return model.name == "DPN forward"; });
  ASSERT_EQ(plan.models.models.size(), other.models.size());
  for (size_t m = 0; m < other.models.size(); ++m) {
    EXPECT_EQ(plan.models.models[m].run, other.models[m].run);
    EXPECT_EQ(to_toml(plan.models.models[m].config), to_toml(other.models[m].config));
  }
}

TEST(ReasonsPlan, AsksPeopleAboutTheSameImages) {
  const auto plan = reasons_plan({Profile::kQuick, 4, {}});
  EXPECT_EQ(plan.models.inside, "cifar10:test,subset=5000,seed=4");
  EXPECT_EQ(plan.people, "cifar10h,subset=5000,seed=4");
  EXPECT_EQ(models_of(plan.models),
            (std::vector<std::string>{"DNN", "MCDP", "DPN forward", "DPN reverse", "DNN ensemble"}));
}

TEST(ReasonsPlan, TakesAsManyStepsWhateverTheAmountOfData) {
  const auto plan = reasons_plan({Profile::kModern, 1, {}});
  ASSERT_EQ(plan.amounts.models.size(), 12u);
  ASSERT_EQ(plan.amounts_of.size(), 12u);
  EXPECT_EQ(plan.amounts_of[0].model, "DPN");
  EXPECT_EQ(plan.amounts_of[1].model, "DNN ensemble");
  EXPECT_EQ(plan.amounts.models[0].config.train, "cifar10:train,subset=500,seed=1,repeat=100");
  EXPECT_EQ(plan.amounts.models[8].config.train, "cifar10:train,subset=20000,seed=1,repeat=3,first=50000");
  EXPECT_EQ(plan.amounts.models[10].config.train, "cifar10:train");
  EXPECT_EQ(plan.amounts.models[0].run, "seed-1/dpn-500-images");
  EXPECT_EQ(plan.amounts.models[1].run, "seed-1/dnn-ensemble-500-images");
  EXPECT_EQ(plan.amounts.models[1].config.members, 3);
  // Except for the images the configurations are the same.
  auto alike = plan.amounts.models[0].config;
  alike.train = "cifar10:train";
  EXPECT_EQ(to_toml(alike), to_toml(plan.amounts.models[10].config));
  EXPECT_EQ(reasons_plan({Profile::kModern, 1, {"training.epochs=2"}}).amounts.models[0].config.epochs, 2);
}

TEST(ReasonsPlan, IsNotOfThePaper) {
  EXPECT_THROWS(ConfigError, reasons_plan({Profile::kPaper, 1, {}}),
                "reasons is not in the paper and has no profile paper: give --profile modern or quick");
}

/// Bars; people disagree about every third.
Dataset reasons_set(const std::string& name) {
  if (name != "people") return small_set(name);
  auto counts = torch::zeros({90, 3});
  for (int64_t row = 0; row < 90; ++row) {
    counts[row][row % 3] = row % 3 == 0 ? 20 : 50;
    if (row % 3 == 0) counts[row].add_(10);
  }
  return {name, counts, {}, {}, {"left", "middle", "right"}};
}

ReasonsPlan small_reasons(uint64_t seed) {
  ReasonsPlan plan;
  plan.people = "people";
  plan.models.name = "reasons";
  plan.models.seed = seed;
  plan.models.inside = "test";
  plan.models.inside_title = "bars";
  plan.models.bootstrap.replicates = 2;
  plan.models.outside = {{"Dots", "noise", ""}, {"Paintings", "absent", ""}};
  auto ensemble = small_plan("dnn", seed);
  ensemble.members = 2;
  plan.models.models = {{"DNN", run_of_seed(seed, "dnn"), small_plan("dnn", seed), 0},
                        {"DPN forward", run_of_seed(seed, "dpn"), small_plan("dpn", seed), 0}};
  if (seed == 1) plan.models.models.push_back({"DNN ensemble", run_of_seed(seed, "ensemble"), ensemble, 0});
  plan.amounts = plan.models;
  plan.amounts.outside.clear();
  plan.amounts.models = {{"DPN, 10 images", run_of_seed(seed, "dpn-10"), small_plan("dpn", seed), 0},
                         {"DPN, 320 images", run_of_seed(seed, "dpn"), small_plan("dpn", seed), 0}};
  plan.amounts.models[0].config.epochs = 1;
  plan.amounts_of = {{"DPN", 10}, {"DPN", 320}};
  return plan;
}

struct SmallReasons {
  explicit SmallReasons(int64_t seeds) {
    ImageRunOptions options;
    options.runs = folder / "runs";
    options.load = reasons_set;
    NoProgress progress;
    for (int64_t i = 0; i < seeds; ++i)
      results.push_back(run_reasons(small_reasons(static_cast<uint64_t>(i) + 1), options, progress));
  }

  TemporaryFolder folder;
  std::vector<ReasonsResult> results;
};

TEST(Reasons, AnswersThreeQuestions) {
  const SmallReasons reasons(1);
  const auto& result = reasons.results.front();
  ASSERT_EQ(result.models.size(), 3u);
  EXPECT_EQ(result.models[0].people.size(), 1u);
  EXPECT_EQ(result.models[1].people.size(), 4u);
  EXPECT_EQ(result.models[2].people.size(), 3u) << "an ensemble has no differential entropy";
  ASSERT_EQ(result.models[1].verdicts.size(), 5u) << "three kinds of images, all of them, and a set that is there";
  EXPECT_EQ(result.models[1].verdicts[0].images, 60);
  EXPECT_EQ(result.models[1].verdicts[2].images, 30);
  EXPECT_EQ(result.models[1].verdicts[4].group, "Dots");
  ASSERT_EQ(result.missing.size(), 1u);
  ASSERT_EQ(result.amounts.size(), 2u);
  EXPECT_EQ(result.amounts[1].amount.images, 320);
  EXPECT_GT(result.amounts[0].data.value, result.amounts[1].data.value) << "trained less";
  const auto tables = reasons_tables(reasons.results);
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0].rows.size(), 3u);
  EXPECT_EQ(tables[0].rows[0][2].text(), "-") << "for a single softmax";
  EXPECT_EQ(tables[1].rows.size(), 15u);
  EXPECT_EQ(tables[1].notes.back(), "Paintings is missing: priornet data get paintings gets it");
  EXPECT_EQ(tables[2].rows.size(), 2u);
}

TEST(Reasons, GivesMeansOverSeeds) {
  const SmallReasons reasons(2);
  const auto text = to_json(reasons.results, {});
  EXPECT_EQ(text.find('\n'), text.size() - 1);  // one line: indentation would double the file
  const auto json = nlohmann::json::parse(text);
  ASSERT_EQ(json["seeds"].size(), 2u);
  const auto of_seed = [&](size_t seed) {
    return json["seeds"][seed]["models"][1]["people"]["expected_entropy"]["value"].get<double>();
  };
  bool found = false;
  for (const auto& row : json["reasons"]["people"]) {
    if (row["model"] != "DPN forward" || row["measure"] != "expected_entropy") continue;
    found = true;
    EXPECT_NEAR(row["value"].get<double>(), (of_seed(0) + of_seed(1)) / 2, 1e-12);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(json["seeds"][1]["models"].size(), 2u);
  EXPECT_EQ(reasons_tables(reasons.results)[0].rows.size(), 3u);
}

/// The seeds of small_reasons with what `only` names, beside the rows that the folder holds.
std::vector<ReasonsResult> reasons_in_parts(const std::filesystem::path& folder, int64_t seeds,
                                            const std::string& only) {
  ExperimentOptions options;
  options.only = only;
  std::vector<ReasonsPlan> plans;
  for (int64_t i = 0; i < seeds; ++i) plans.push_back(small_reasons(static_cast<uint64_t>(i) + 1));
  choose_reasons(plans, options);
  ImageRunOptions run;
  run.runs = folder / "runs";
  run.load = reasons_set;
  NoProgress progress;
  std::vector<ReasonsResult> results;
  for (const auto& plan : plans)
    if (has_chosen(plan.models) || has_chosen(plan.amounts)) results.push_back(run_reasons(plan, run, progress));
  if (std::filesystem::exists(folder / "results.json"))
    results = with_kept_rows(std::move(results), read_reasons(folder, small_reasons, 1));
  RunRecord record;
  record.commit = "of " + only;
  std::ofstream(folder / "results.json") << to_json(results, record);
  std::filesystem::remove_all(folder / "runs");
  return results;
}

TEST(ReasonsParts, GiveTogetherWhatTheWholeGives) {
  const SmallReasons whole(2);
  const TemporaryFolder folder;
  auto part = reasons_in_parts(folder / ".", 2, "amounts");
  EXPECT_TRUE(part[0].models.empty());
  ASSERT_EQ(part[0].amounts.size(), 2u);
  EXPECT_EQ(reasons_tables(part).size(), 1u) << "of the amounts";
  reasons_in_parts(folder / ".", 2, "DNN ensemble, DPN forward");
  part = reasons_in_parts(folder / ".", 2, "DNN");
  const auto tables = reasons_tables(part), wanted = reasons_tables(whole.results);
  ASSERT_EQ(tables.size(), 3u);
  for (size_t t = 0; t < 3; ++t) EXPECT_EQ(to_csv(tables[t]), to_csv(wanted[t])) << t;
  EXPECT_EQ(tables[0].notes.back(),
            "DNN: 2 seeds. DPN forward: 2 seeds, kept from commit of DNN ensemble, DPN forward. DNN ensemble: 1 seed, "
            "kept from commit of DNN ensemble, DPN forward. Rows are kept only if their recorded settings are those of "
            "today.");
  EXPECT_EQ(tables[2].notes.back(),
            "DPN, 10 images, DPN, 320 images: 2 seeds, kept from commit of amounts. Rows are kept only if their "
            "recorded settings are those of today.");
  const auto json = nlohmann::json::parse(to_json(part, {}));
  auto without = nlohmann::json::parse(to_json(whole.results, {}));
  EXPECT_EQ(json["reasons"], without["reasons"]);
  EXPECT_EQ(json["options"], without["options"]);
  EXPECT_EQ(json["headlines"], without["headlines"]);
  // Read and written again, it is the same.
  const auto stored = read_reasons(folder / ".", small_reasons, 1);
  EXPECT_EQ(to_json(stored.seeds, stored.record), bytes_of(folder / "results.json"));
}

TEST(ReasonsParts, MayBeOneAmountAlone) {
  const TemporaryFolder folder;
  reasons_in_parts(folder / ".", 1, "DPN, 320 images");
  const auto results = reasons_in_parts(folder / ".", 2, "DPN, 10 images");
  ASSERT_EQ(results[0].amounts.size(), 2u);
  EXPECT_EQ(results[0].amounts[0].amount.images, 10);
  EXPECT_EQ(reasons_tables(results)[0].notes.back(),
            "DPN, 10 images: 2 seeds. DPN, 320 images: 1 seed, kept from commit of DPN, 320 images. Rows are kept only "
            "if their recorded settings are those of today.");
  EXPECT_THROWS(ConfigError, reasons_in_parts(folder / ".", 1, "DPN"),
                "unknown model 'DPN'; known: DNN; DPN forward; DNN ensemble; amounts; DPN, 10 images; DPN, 320 images");
}

TEST(ReasonsParts, AreNotKeptWithOtherSettings) {
  const TemporaryFolder folder;
  reasons_in_parts(folder / ".", 1, "DNN");
  const auto longer = [](uint64_t seed) {
    auto plan = small_reasons(seed);
    plan.models.models[0].config.epochs = 5;
    return plan;
  };
  const auto stored = read_reasons(folder / ".", longer, 1);
  EXPECT_TRUE(stored.seeds[0].models.empty());
  EXPECT_EQ(stored.remarks,
            std::vector<std::string>{"DNN: its rows of commit of DNN are left out: training.epochs: 2 there, 5 here."});
  EXPECT_THROWS(DataError, read_reasons(folder / ".", small_reasons, 3),
                ((folder / "." / "results.json").string() +
                 ": its rows cannot be kept: the first seed is 1 there, 3 here; choose another --out")
                    .c_str());
}

TEST(Reasons, AreThreePictures) {
  const SmallReasons reasons(2);
  const auto figures = reasons_figures(means_over_seeds(reasons.results));
  ASSERT_EQ(figures.size(), 3u);
  if (!can_render()) GTEST_SKIP() << kNoGnuplot;
  const auto people = render(figures[0].figure, FigureFormat::kSvg);
  for (const auto* text : {"DPN forward", "DNN ensemble", "Expected entropy", "rank correlation"})
    EXPECT_NE(people.find(text), std::string::npos) << text;
  const auto verdicts = render(figures[1].figure, FigureFormat::kSvg);
  for (const auto* text : {"people are torn", "Dots", "unfamiliar", "shares in %"})
    EXPECT_NE(verdicts.find(text), std::string::npos) << text;
  EXPECT_EQ(verdicts.find("all test images"), std::string::npos);
  const auto amounts = render(figures[2].figure, FigureFormat::kSvg);
  for (const auto* text : {"DPN: mutual information", ">320<", "nats"})
    EXPECT_NE(amounts.find(text), std::string::npos) << text;
  EXPECT_TRUE(render(figures[1].figure, FigureFormat::kPng).starts_with("\x89PNG"));
}

TEST(Reasons, AreReadBackToBeDrawn) {
  const SmallReasons reasons(2);
  const auto means = means_over_seeds(reasons.results);
  const auto stored = stored_means(to_json(reasons.results, RunRecord{}));
  ASSERT_TRUE(stored);
  const auto drawn = reasons_figures(means), again = reasons_figures(*stored);
  ASSERT_EQ(again.size(), drawn.size());
  for (size_t f = 0; f < drawn.size(); ++f) {
    EXPECT_EQ(again[f].figure.script, drawn[f].figure.script);
    EXPECT_EQ(again[f].figure.files, drawn[f].figure.files);
  }
  EXPECT_FALSE(stored_means(R"({"tables": []})"));
  EXPECT_THROW(stored_means(R"({"reasons": {"people": 3}})"), DataError);
}

TEST(Reasons, RefusesPeopleOfOtherImages) {
  const TemporaryFolder folder;
  ImageRunOptions options;
  options.runs = folder / "runs";
  options.load = [](const std::string& name) {
    return name == "people" ? slice(reasons_set(name), 0, 80) : reasons_set(name);
  };
  NoProgress progress;
  EXPECT_THROWS(DataError, run_reasons(small_reasons(1), options, progress),
                "people has 80 rows, but test has 90: both should have the same images");
}

TEST(Reasons, LeavesWhatAReportShows) {
  const SmallReasons reasons(1);
  OutputFolder out(reasons.folder / "out");
  out.write("results.json", to_json(reasons.results, describe_run()));
  write_report(out);
  const auto markdown = bytes_of(out.path() / "table.md");
  EXPECT_NE(markdown.find("| DPN | 320 |"), std::string::npos) << markdown;
  if (const auto* keep = std::getenv("PRIORNET_KEEP_RESULTS")) {
    const std::filesystem::path folder = std::string(keep) + "-reasons";
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(out.path() / "results.json", folder / "results.json",
                               std::filesystem::copy_options::overwrite_existing);
  }
}

}  // namespace
}  // namespace priornet
