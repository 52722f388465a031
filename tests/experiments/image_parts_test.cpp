#include <priornet/learning/training.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_experiment.h>
#include <testing/throws.h>

#include <nlohmann/json.hpp>

#include "tool/experiments/image_plans.h"
#include "tool/experiments/image_results.h"
#include "tool/experiments/image_run.h"
#include "tool/experiments/image_tables.h"
#include "tool/experiments/stored_images.h"

// Experiments that are made model by model: `only` trains and evaluates some, rows of the others are kept.

namespace priornet {
namespace {

/// As profile modern has it: a DNN, a DPN and a student per seed; with the first seed the ensemble of two DPNs, which
/// is the students' teacher.
ImageExperiment bars_in_parts(uint64_t seed) {
  ImageExperiment experiment;
  experiment.name = "small";
  experiment.title = "Bars";
  experiment.seed = seed;
  experiment.inside = "test";
  experiment.inside_title = "bars";
  experiment.outside = {{"OMNIGLOT", "noise", "OMNIGLOT"}, {"Paintings", "absent", ""}, {"Dots", "noise", ""}};
  experiment.published = published_mnist();
  experiment.bootstrap.replicates = 20;
  PlannedModel ensemble{"DPN ensemble", run_of_seed(1, "dpn"), small_plan("dpn", 1)};
  ensemble.config.members = 2;
  const auto member = static_cast<int64_t>(seed);
  PlannedModel student{"Student", run_of_seed(seed, "student"), small_plan("dpn", seed)};
  student.teacher = std::make_shared<const PlannedModel>(ensemble);
  student.config.teacher = ensemble.run;
  experiment.models = {
      {"DNN", run_of_seed(seed, "dnn"), small_plan("dnn", seed)},
      {"DPN", member_folder(ensemble.run, member).generic_string(), member_config(ensemble.config, member)},
      student};
  experiment.comparisons = {{"DPN", "differential_entropy", "DNN", "entropy"},
                            {"Student", "differential_entropy", "DNN", "entropy"}};
  if (seed > 1) return experiment;
  experiment.models.push_back(ensemble);
  experiment.comparisons.push_back({"DPN ensemble", "differential_entropy", "DNN", "entropy"});
  return experiment;
}

/// Every part is made where no network of an earlier one is left.
struct BarsInParts {
  explicit BarsInParts(const std::filesystem::path& out) {
    options.out = out;
    options.seeds = 2;
    options.device = torch::kCPU;
    options.stop = [this] {
      ++steps;
      return false;
    };
    run.load = small_set;
  }

  nlohmann::json make(const std::string& only, const PlanOfSeed& plan = bars_in_parts) {
    std::filesystem::remove_all(options.out / "runs");
    options.only = only;
    options.command = "reproduce --only " + only;
    NoProgress progress;
    summary = reproduce_images(plan, options, run, progress);
    return results();
  }

  nlohmann::json results() const { return nlohmann::json::parse(bytes_of(options.out / "results.json")); }

  ExperimentOptions options;
  ImageRunOptions run;
  ExperimentSummary summary;
  int64_t steps = 0;  ///< of training
};

constexpr int64_t kStepsOfANetwork = 2 * 10;

std::vector<std::string> models_of_seed(const nlohmann::json& results, size_t seed) {
  std::vector<std::string> names;
  for (const auto& model : results["seeds"][seed]["models"]) names.push_back(model["model"]);
  return names;
}

/// What two runs of the same networks should agree in.
nlohmann::json what_was_found(nlohmann::json results) {
  for (auto& seed : results["seeds"]) {
    seed.erase("comparisons");  // paired tests need the scores of both models
    for (auto& model : seed["models"]) model.erase("kept");
  }
  results.erase("run");
  results.erase("tables");
  return results;
}

TEST(ImageParts, TrainOnlyWhatIsNamed) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  auto results = part.make("DNN");
  EXPECT_EQ(part.steps, 2 * kStepsOfANetwork) << "one DNN per seed";
  EXPECT_EQ(models_of_seed(results, 0), std::vector<std::string>{"DNN"});
  EXPECT_EQ(results["options"]["models"].size(), 1u);
  EXPECT_EQ(part.summary.tables[0].rows.size(), 1u);
  // A teacher is trained for its students, and is in no table.
  BarsInParts students(folder / "students");
  results = students.make("Student");
  EXPECT_EQ(students.steps, 4 * kStepsOfANetwork) << "two members, two students";
  EXPECT_EQ(models_of_seed(results, 0), std::vector<std::string>{"Student"});
  // The second seed has no ensemble.
  BarsInParts ensemble(folder / "ensemble");
  results = ensemble.make("DPN ensemble");
  EXPECT_EQ(ensemble.steps, 2 * kStepsOfANetwork);
  EXPECT_EQ(results["seeds"].size(), 1u);
}

TEST(ImageParts, PlanOnlyWhatIsNamed) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.options.only = "DPN, Student";
  std::vector<std::string> folders;
  for (const auto& network : plan_images(chosen_plans(bars_in_parts, part.options), part.options, part.run))
    folders.push_back(network.folder.lexically_relative(folder / "out/runs").generic_string());
  EXPECT_EQ(folders, (std::vector<std::string>{"seed-1/dpn/member-1", "seed-1/dpn/member-2", "seed-1/student",
                                               "seed-2/student"}));
}

TEST(ImageParts, ListTheKnownNamesForAnother) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  EXPECT_THROWS(ConfigError, part.make("DNN,OE"), "unknown model 'OE'; known: DNN; DPN; Student; DPN ensemble");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(ChosenModels, MayHaveCommasInTheirNames) {
  const std::vector<std::string> known = {"DPN", "DNN ensemble", "DPN, 500 images", "DPN, 2000 images"};
  EXPECT_EQ(chosen_models(" DPN, 500 images ,DNN ensemble", known),
            (std::vector<std::string>{"DPN, 500 images", "DNN ensemble"}));
  EXPECT_EQ(chosen_models("DPN,DPN, 2000 images", known), (std::vector<std::string>{"DPN", "DPN, 2000 images"}));
  EXPECT_THROWS(ConfigError, chosen_models("DNN ensemble, 500 images", known),
                "unknown model '500 images'; known: DPN; DNN ensemble; DPN, 500 images; DPN, 2000 images");
}

TEST(ImageParts, GiveTogetherWhatTheWholeGives) {
  const TemporaryFolder folder;
  BarsInParts whole(folder / "whole"), parts(folder / "parts");
  const auto wanted = whole.make("");
  parts.make("DPN ensemble,DPN");
  parts.make("Student");
  const auto found = parts.make("DNN");
  EXPECT_EQ(what_was_found(found), what_was_found(wanted));
  // Tables too, but for paired tests, which need the scores of both, and for notes about where rows come from.
  ASSERT_GE(parts.summary.tables.size(), 4u);
  for (size_t t = 0; t < 4; ++t)
    EXPECT_EQ(to_csv(parts.summary.tables[t]), to_csv(whole.summary.tables[t])) << whole.summary.tables[t].title;
  for (const auto* title : {"DPN ensemble: data, distributional and model uncertainty",
                            "Published cells that are met or surpassed", "Published cells that are missed, in %"}) {
    const auto text = [&](const std::vector<Table>& tables) {
      for (const auto& table : tables)
        if (table.title == title) return to_csv(table);
      return std::string();
    };
    EXPECT_EQ(text(parts.summary.tables), text(whole.summary.tables)) << title;
  }
  EXPECT_EQ(parts.summary.headlines.size(), whole.summary.headlines.size());
  EXPECT_EQ(bytes_of(folder / "parts/table.csv"), bytes_of(folder / "whole/table.csv"));
  EXPECT_EQ(bytes_of(folder / "parts/images.json"), bytes_of(folder / "whole/images.json"));
  EXPECT_EQ(nlohmann::json::parse(bytes_of(folder / "parts/curves.json")),
            nlohmann::json::parse(bytes_of(folder / "whole/curves.json")));
}

TEST(ImageParts, SayWhereTheirRowsComeFrom) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.make("DNN,DPN");
  const auto commit = part.results()["run"]["commit"].get<std::string>();
  part.options.seeds = 1;
  const auto results = part.make("Student");
  EXPECT_EQ(models_of_seed(results, 0), (std::vector<std::string>{"DNN", "DPN", "Student"}));
  EXPECT_EQ(models_of_seed(results, 1), (std::vector<std::string>{"DNN", "DPN"}));
  EXPECT_EQ(results["run"]["command"], "reproduce --only Student");
  ASSERT_EQ(results["run"]["kept"].size(), 1u);
  EXPECT_EQ(results["run"]["kept"][0]["command"], "reproduce --only DNN,DPN");
  EXPECT_EQ(results["run"]["kept"][0]["models"], (std::vector<std::string>{"DNN", "DPN"}));
  EXPECT_EQ(results["seeds"][1]["models"][0]["kept"], 0);
  EXPECT_FALSE(results["seeds"][0]["models"][2].contains("kept"));
  const auto& notes = part.summary.tables[0].notes;
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].find("Mean over 2 seeds with its 95 % interval by Student's t. There is one Student;"), 0u)
      << notes[0];
  EXPECT_EQ(notes[1], "DNN, DPN: 2 seeds, kept from commit " + commit +
                          ". Student: 1 seed. Rows are kept only if their recorded settings are those of today.");
  const auto markdown = bytes_of(folder / "out/table.md");
  EXPECT_NE(markdown.find("Kept from before: DNN; DPN, by `reproduce --only DNN,DPN`; commit " + commit),
            std::string::npos)
      << markdown;
  // Rows that are kept twice still name the run that made them; means go over as many seeds as a model has.
  part.options.seeds = 3;
  const auto third = part.make("DNN");
  ASSERT_EQ(third["run"]["kept"].size(), 2u);
  EXPECT_EQ(third["run"]["kept"][0]["models"], std::vector<std::string>{"DPN"});
  EXPECT_EQ(third["run"]["kept"][0]["command"], "reproduce --only DNN,DPN");
  EXPECT_EQ(third["run"]["kept"][1]["command"], "reproduce --only Student");
  EXPECT_EQ(models_of_seed(third, 2), std::vector<std::string>{"DNN"});
  EXPECT_EQ(part.summary.tables[0].notes[0].find("Mean over 2 to 3 seeds with"), 0u);
  EXPECT_EQ(part.summary.tables[0].notes[1].find("DNN: 3 seeds. DPN: 2 seeds, kept from commit"), 0u);
}

TEST(ImageParts, AreComparedByMeansAlone) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.make("DNN");
  part.make("DPN,DPN ensemble");
  const auto table_of = [&](const std::string& title) {
    for (const auto& table : part.summary.tables)
      if (table.title == title) return table;
    ADD_FAILURE() << title;
    return Table{};
  };
  const auto& results = part.results();
  EXPECT_FALSE(results["seeds"][0].contains("comparisons"));
  const auto means = table_of("One network against one: DPN by D.Ent. against DNN by Ent., AUROC in %");
  EXPECT_EQ(means.columns.back(), "p");
  ASSERT_EQ(means.rows.size(), 2u) << "one per set";
  EXPECT_EQ(means.notes[0],
            "Means over 2 and 2 seeds; interval and p by Welch's t over the seeds: two-sided p that both means are "
            "equal.");
  EXPECT_EQ(means.notes[1].find("No paired test:"), 0u);
  // One ensemble against two seeds: neither a paired test nor Welch's.
  const auto ensemble = table_of("Two networks against one: DPN ensemble by D.Ent. against DNN by Ent., AUROC in %");
  EXPECT_EQ(ensemble.notes[0].find("No paired test:"), 0u);
  EXPECT_NE(ensemble.notes[0].find("as if their inputs were not the same"), std::string::npos);
  // DeLong's standard error of the one, and that of the mean of the two.
  const auto found = [&](size_t seed, const std::string& model, const std::string& measure) {
    for (const auto& row : results["seeds"][seed]["models"])
      if (row["model"] == model)
        for (const auto& detection : row["evaluation"]["out_of_distribution"][0]["detection"])
          if (detection["measure"] == measure) return detection;
    return nlohmann::json();
  };
  const auto one = found(0, "DPN ensemble", "differential_entropy");
  const double first = found(0, "DNN", "entropy")["auroc"]["value"],
               second = found(1, "DNN", "entropy")["auroc"]["value"];
  const double distance = one["auroc"]["value"].get<double>() - (first + second) / 2;
  const double error = std::hypot(one["auroc_std_err"].get<double>(), (first - second) / 2);
  ASSERT_GT(error, 0.0);
  EXPECT_NEAR(ensemble.rows[0][5].value(), std::erfc(std::abs(distance) / error / std::sqrt(2.0)), 1e-9);
  // Kept together, models keep their paired tests.
  part.make("DNN,DPN");
  part.make("Student");
  EXPECT_EQ(table_of("One network against one: DPN by D.Ent. against DNN by Ent., AUROC in %").columns.back(),
            "difference of each seed");
  EXPECT_EQ(part.results()["seeds"][0]["comparisons"].size(), 1u);
}

/// Everything of the folder that is read back and written again.
std::string written_again(const std::filesystem::path& folder, const PlanOfSeed& plan) {
  const auto stored = read_images(folder, plan, 1);
  EXPECT_TRUE(stored.remarks.empty());
  return to_json(stored.seeds, stored.record);
}

TEST(StoredImages, AreWrittenAgainAsTheyWere) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.make("");
  EXPECT_EQ(written_again(folder / "out", bars_in_parts), bytes_of(folder / "out/results.json"));
  part.options.seeds = 1;
  part.make("Student");
  EXPECT_EQ(written_again(folder / "out", bars_in_parts), bytes_of(folder / "out/results.json"));
}

TEST(StoredImages, LeaveOutWhatIsNoLongerPlanned) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.make("DNN,DPN");
  const auto commit = part.results()["run"]["commit"].get<std::string>();
  const auto longer = [](uint64_t seed) {
    auto experiment = bars_in_parts(seed);
    experiment.models[0].config.epochs = 3;
    experiment.models[1].name = "Prior Network";
    experiment.models[2].config.checkpoint_every = 7;  // not a setting of what was learnt
    return experiment;
  };
  part.make("DPN ensemble,Student");
  const auto stored = read_images(folder / "out", longer, 1);
  EXPECT_EQ(stored.remarks,
            (std::vector<std::string>{
                "DNN: its rows of commit " + commit + " are left out: training.epochs: 2 there, 3 here.",
                "DPN: its rows of commit " + commit + " are left out: the experiment has no such model today."}));
  ASSERT_EQ(stored.seeds[0].models.size(), 2u);
  EXPECT_EQ(stored.seeds[0].models[0].plan.name, "Student");
}

TEST(StoredImages, AreOfTheSameExperiment) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.make("DNN");
  const auto refusal = [&](const std::string& what) {
    return (folder / "out/results.json").string() + ": its rows cannot be kept: " + what + "; choose another --out";
  };
  const auto with_title = [](uint64_t seed) {
    auto experiment = bars_in_parts(seed);
    experiment.title = "Bars, quick profile";
    return experiment;
  };
  EXPECT_THROWS(DataError, read_images(folder / "out", with_title, 1),
                refusal("the title is Bars there, Bars, quick profile here").c_str());
  EXPECT_THROWS(DataError, read_images(folder / "out", bars_in_parts, 2),
                refusal("the first seed is 1 there, 2 here").c_str());
  std::ofstream(folder / "out/results.json") << "{}";
  EXPECT_THROW(read_images(folder / "out", bars_in_parts, 1), DataError);
}

TEST(StoredImages, MayBeOfKin) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.make("DNN,DPN");
  const auto relatives = [](uint64_t seed) {
    auto experiment = bars_in_parts(seed);
    experiment.kin_name = std::exchange(experiment.name, "small-relatives");
    experiment.kin_title = std::exchange(experiment.title, "Relatives");
    std::erase_if(experiment.models, [](const PlannedModel& model) { return model.name == "DPN"; });
    experiment.comparisons = {{"Student", "mutual_information", "DNN", "entropy"}};
    return experiment;
  };
  const auto results = part.make("Student", relatives);
  EXPECT_EQ(results["experiment"], "small-relatives");
  EXPECT_EQ(models_of_seed(results, 0), (std::vector<std::string>{"DNN", "Student"}));
  EXPECT_EQ(models_of_seed(results, 1), (std::vector<std::string>{"DNN", "Student"}));
  // The other way round they are strangers.
  EXPECT_THROW(read_images(folder / "out", bars_in_parts, 1), DataError);
}

TEST(StoredImages, KeepTheComparisonsThatArePlanned) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.make("DNN,DPN");
  EXPECT_EQ(read_images(folder / "out", bars_in_parts, 1).seeds[0].comparisons.size(), 1u);
  const auto other = [](uint64_t seed) {
    auto experiment = bars_in_parts(seed);
    experiment.comparisons[0].measure = "mutual_information";
    return experiment;
  };
  EXPECT_TRUE(read_images(folder / "out", other, 1).seeds[0].comparisons.empty());
}

TEST(StoredImages, MayLackASetThatNewRowsHave) {
  const TemporaryFolder folder;
  BarsInParts part(folder / "out");
  part.run.load = [](const std::string& name) { return small_set(name == "dots" ? "absent" : name); };
  const auto plan = [](uint64_t seed) {
    auto experiment = bars_in_parts(seed);
    experiment.outside[2].set = "dots";
    return experiment;
  };
  part.make("DNN,DPN ensemble", plan);
  EXPECT_EQ(part.results()["seeds"][0]["missing"].size(), 2u);
  part.run.load = [](const std::string& name) { return small_set(name == "dots" ? "noise" : name); };
  const auto results = part.make("DPN", plan);
  EXPECT_EQ(results["seeds"][0]["missing"].size(), 1u);
  const auto& models = results["seeds"][0]["models"];
  EXPECT_EQ(models[0]["evaluation"]["out_of_distribution"].size(), 1u);
  EXPECT_EQ(models[1]["evaluation"]["out_of_distribution"].size(), 2u);
  const auto& auroc = part.summary.tables[2];
  ASSERT_EQ(auroc.rows.size(), 3u + 1 + 3) << "OMNIGLOT, Paintings (missing), Dots";
  EXPECT_EQ(auroc.rows[4][0].text(), "Dots");
  EXPECT_EQ(auroc.rows[4][1].text(), "DNN");
  EXPECT_EQ(auroc.rows[4][2].text(), "-");
  EXPECT_NE(auroc.rows[5][2].text(), "-");
  EXPECT_EQ(written_again(folder / "out", plan), bytes_of(folder / "out/results.json"));
  const auto curves = nlohmann::json::parse(bytes_of(folder / "out/curves.json"));
  EXPECT_EQ(curves["sets"], (std::vector<std::string>{"bars", "OMNIGLOT", "Dots"}));
  EXPECT_TRUE(curves["models"][0]["measures"][0]["tasks"][2].is_null());
  EXPECT_EQ(curves["models"][0]["measures"][0]["histograms"]["sets"].size(), 3u);
  EXPECT_FALSE(curves["models"][1]["measures"][0]["tasks"][2].is_null());
}

// results/cifar10-modern as version 0.1 wrote it, without tables and with three measures: other sets, no titles of
// sets, no balanced AUPR, no variances of paired tests.
TEST(StoredImages, CanBeOfVersion01) {
  ExperimentOptions options;
  options.profile = Profile::kModern;
  const auto plan = plan_by(cifar10_experiment, options);
  auto stored = read_images(std::filesystem::path(PRIORNET_TEST_FIXTURES) / "results-0.1", plan, 1);
  EXPECT_EQ(stored.remarks, std::vector<std::string>());
  EXPECT_EQ(stored.record.commit, "114dacb78971");
  ASSERT_EQ(stored.seeds.size(), 3u);
  const auto models = models_of_seeds(stored.seeds);
  ASSERT_EQ(models.size(), 4u);
  EXPECT_EQ(models[1].plan.name, "OE");
  EXPECT_EQ(models[1].seeds.size(), 3u);
  EXPECT_EQ(models[3].plan.name, "DPN ensemble");
  EXPECT_EQ(models[3].seeds.size(), 1u);
  EXPECT_NEAR(models[1].seeds[0]->training_seconds, 153.53, 0.01);
  bool found = false;
  for (const auto& cell : result_cells(stored.seeds))
    if (cell.model == "OE" && cell.outside == "CIFAR-100" && cell.metric == CellMetric::kAuroc &&
        kPaperMeasures[cell.measure] == "entropy") {
      found = true;
      EXPECT_NEAR(cell.ours.value, 98.39, 0.005) << "as the table of that run has it";
    }
  EXPECT_TRUE(found);
  // Beside five new seeds of the DPN.
  std::vector<ImageResult> fresh;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    fresh.push_back(stored.seeds[(seed - 1) % 3]);
    fresh.back().experiment = plan(seed);
    fresh.back().experiment.only = {"DPN"};
    fresh.back().comparisons.clear();
    std::erase_if(fresh.back().models, [](const ModelResult& model) { return model.plan.name != "DPN"; });
  }
  const auto joined = with_kept_rows(std::move(fresh), std::move(stored));
  ASSERT_EQ(joined.size(), 5u);
  const auto tables = image_tables(joined);
  EXPECT_EQ(tables[0].rows.size(), 4u);
  EXPECT_EQ(tables[0].notes[1],
            "DNN, OE: 3 seeds, kept from commit 114dacb78971. DPN: 5 seeds. DPN ensemble: 1 seed, kept from commit "
            "114dacb78971. Rows are kept only if their recorded settings are those of today.");
  EXPECT_EQ(tables[0].notes[0].find("Mean over 3 to 5 seeds with its 95 % interval by Student's t. There is one DPN "
                                    "ensemble; its intervals:"),
            0u)
      << tables[0].notes[0];
}

}  // namespace
}  // namespace priornet
