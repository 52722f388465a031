#include "tool/experiments/openood_benchmark.h"
#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_experiment.h>
#include <testing/throws.h>

#include "tool/experiments/image_results.h"
#include "tool/experiments/stored_images.h"

namespace priornet {
namespace {

TEST(OpenOodExperiment, AsksTheNetworksOfCifar10) {
  const ImagePlanOptions options{Profile::kModern, 2, {}};
  const auto other = cifar10_experiment(options);
  for (const auto plan : {openood_experiment, openood_validation}) {
    const auto experiment = plan(options);
    ASSERT_EQ(experiment.models.size(), other.models.size());
    for (size_t m = 0; m < other.models.size(); ++m) {
      EXPECT_EQ(experiment.models[m].run, other.models[m].run);
      EXPECT_EQ(to_toml(experiment.models[m].config), to_toml(other.models[m].config));
    }
  }
}

TEST(OpenOodExperiment, HasTheSetsOfTheBenchmark) {
  const auto experiment = openood_experiment({Profile::kModern, 1, {}});
  EXPECT_EQ(experiment.inside, "openood:cifar10-test");
  std::vector<std::string> sets;
  for (const auto& set : experiment.outside) sets.push_back(set.set);
  EXPECT_EQ(sets, (std::vector<std::string>{"openood:cifar100-test", "openood:tin-test,size=32",
                                            "mnist:all,rgb,size=32", "svhn:test"}));
  EXPECT_EQ(openood_experiment({Profile::kQuick, 1, {}}).inside, "openood:cifar10-test,subset=5000,seed=1");
  EXPECT_THROWS(ConfigError, openood_experiment({Profile::kPaper, 1, {}}),
                "openood is not in the paper and has no profile paper: give --profile modern or quick");
}

/// Near sets: bars, and noise of the kind that the DPN learnt as out of distribution. Far set: noise.
ImageExperiment small_benchmark(uint64_t seed) {
  ImageExperiment experiment;
  experiment.name = "openood";
  experiment.seed = seed;
  experiment.inside = "test";
  experiment.inside_title = "bars";
  experiment.outside = {{"Noise", "uniform-noise", ""}, {"Bars", "validation", ""}, {"Dots", "noise", ""}};
  experiment.bootstrap.replicates = 2;
  experiment.models = {{"DNN", run_of_seed(seed, "dnn"), small_plan("dnn", seed), 0},
                       {"DPN", run_of_seed(seed, "dpn"), small_plan("dpn", seed), 0}};
  return experiment;
}

std::vector<ImageResult> run_benchmark(int64_t seeds) {
  const TemporaryFolder folder;
  ImageRunOptions options;
  options.runs = folder / "runs";
  options.load = [](const std::string& name) { return small_set(name == "uniform-noise" ? "noise" : name); };
  NoProgress progress;
  std::vector<ImageResult> results;
  for (int64_t i = 0; i < seeds; ++i)
    results.push_back(run_image_experiment(small_benchmark(static_cast<uint64_t>(i) + 1), options, progress));
  return results;
}

double auroc_of(const ImageResult& result, size_t model, size_t set, const char* measure) {
  return find_measure(result.models[model].report.evaluation.outside[set].detection, measure)->detection.auroc.value;
}

TEST(ChooseMeasures, TakesTheBestOnValidationImages) {
  auto results = run_benchmark(1);
  const auto use_as_validation = [&] {
    const auto aurocs = validation_aurocs(results[0]);
    for (auto& model : results[0].models) model.validation = aurocs.at(model.plan.name);
  };
  use_as_validation();
  const auto chosen = choose_measures(results);
  for (size_t m = 0; m < 2; ++m)
    for (const auto* measure : {"max_prob", "entropy", "energy"})
      EXPECT_GE(auroc_of(results[0], m, 0, chosen.at(results[0].models[m].plan.name).c_str()),
                auroc_of(results[0], m, 0, measure))
          << measure;
  for (auto& row : results[0].models[1].report.evaluation.outside[0].detection)
    row.detection.auroc.value = row.measure == "mutual_information" ? 0.9 : 0.8;
  use_as_validation();
  EXPECT_EQ(choose_measures(results).at("DPN"), "mutual_information");
  results[0].missing.push_back({{"TinyImageNet", "openood:tin-val", ""}, "get it"});
  EXPECT_THROWS(AbsentSet, validation_aurocs(results[0]), "openood needs openood:tin-val to choose measures: get it");
}

TEST(ChooseMeasures, TakesTheMeanOverSeeds) {
  auto results = run_benchmark(2);
  for (auto& seed : results)
    for (auto& model : seed.models) model.validation = {{"max_prob", 0.8}, {"entropy", 0.7}};
  results[1].models[1].validation = {{"max_prob", 0.8}, {"entropy", 0.95}};
  EXPECT_EQ(choose_measures(results), (MeasureOfModel{{"DNN", "max_prob"}, {"DPN", "entropy"}}));
  for (auto& seed : results) seed.models[0].validation.clear();
  EXPECT_THROWS(DataError, choose_measures(results),
                "openood: DNN has no AUROC on validation images to choose its measure by: name it in --only, so that "
                "it is evaluated again");
}

// As reproduce_openood gives it to reproduce_images.
TEST(OpenOodParts, KeepWhatMeasuresAreChosenBy) {
  const TemporaryFolder folder;
  ExperimentOptions options;
  options.out = folder / "out";
  options.device = torch::kCPU;
  ImageRunOptions run;
  run.load = [](const std::string& name) { return small_set(name == "uniform-noise" ? "noise" : name); };
  const auto plan = [](uint64_t seed) {
    auto experiment = small_benchmark(seed);
    experiment.validation = {{"DNN", {{"max_prob", 0.6}, {"entropy", 0.5}}},
                             {"DPN", {{"max_prob", 0.6}, {"differential_entropy", 0.75}}}};
    experiment.tables = [](const std::vector<ImageResult>& seeds) {
      return openood_tables(seeds, choose_measures(seeds));
    };
    return experiment;
  };
  NoProgress progress;
  const auto whole = reproduce_images(plan, options, run, progress);
  options.out = folder / "parts";
  options.only = "DPN";
  reproduce_images(plan, options, run, progress);
  std::filesystem::remove_all(folder / "parts/runs");
  options.only = "DNN";
  const auto parts = reproduce_images(plan, options, run, progress);
  ASSERT_EQ(parts.tables.size(), whole.tables.size());
  for (size_t t = 0; t < whole.tables.size(); ++t) EXPECT_EQ(to_csv(parts.tables[t]), to_csv(whole.tables[t])) << t;
  const auto stored = read_images(folder / "parts", plan, 1);
  ASSERT_EQ(stored.seeds[0].models[1].validation.size(), 2u);
  EXPECT_EQ(stored.seeds[0].models[1].validation[1].measure, "differential_entropy");
  EXPECT_EQ(stored.seeds[0].models[1].validation[1].auroc, 0.75);
}

TEST(OpenOodTables, HaveMeansOfNearAndFarSetsBesideThePublishedOnes) {
  const auto results = run_benchmark(2);
  const auto tables = openood_tables(results, {{"DNN", "max_prob"}, {"DPN", "differential_entropy"}});
  ASSERT_EQ(tables.size(), 3u);
  const auto& rows = tables[0].rows;
  ASSERT_EQ(rows.size(), 6u) << "two of ours, four published";
  const auto mean = [&](size_t set) {
    return 50 * (auroc_of(results[0], 1, set, "differential_entropy") +
                 auroc_of(results[1], 1, set, "differential_entropy"));
  };
  EXPECT_EQ(rows[1][0].text(), "DPN, ours");
  EXPECT_EQ(rows[1][2].text(), "uniform-noise");
  EXPECT_NEAR(rows[1][3].value(), (mean(0) + mean(1)) / 2, 1e-9);
  EXPECT_NEAR(rows[1][4].value(), mean(2), 1e-9);
  EXPECT_TRUE(rows[1][3].text().ends_with(" *")) << "near has a set that it was trained against";
  EXPECT_TRUE(rows[1][5].text().ends_with(" *"));
  EXPECT_FALSE(rows[1][6].text().ends_with(" *"));
  EXPECT_FALSE(rows[0][5].text().ends_with(" *")) << "the DNN saw nothing outside";
  EXPECT_EQ(rows[2][0].text(), "OE, published");
  EXPECT_EQ(rows[2][3].value(), 94.82);
  EXPECT_EQ(rows[5][4].value(), 90.73);
  ASSERT_EQ(tables[1].rows.size(), 6u) << "two models, three sets";
  const auto& detection =
      find_measure(results[0].models[0].report.evaluation.outside[2].detection, "max_prob")->aupr_negatives;
  const auto& other =
      find_measure(results[1].models[0].report.evaluation.outside[2].detection, "max_prob")->aupr_negatives;
  EXPECT_NEAR(tables[1].rows[2][3].value(), 50 * (detection + other), 1e-9);
  EXPECT_EQ(tables[2].rows[0][4].text(), "-") << "the DNN has no differential entropy";
}

TEST(OpenOodTables, NameAModelWithoutItsMeasure) {
  EXPECT_THROWS(ArgumentError,
                openood_tables(run_benchmark(1), {{"DNN", "differential_entropy"}, {"DPN", "differential_entropy"}}),
                "openood_tables: DNN has no differential_entropy");
}

}  // namespace
}  // namespace priornet
