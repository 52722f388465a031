#include <priornet/learning/load_set.h>
#include <priornet/learning/training.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_experiment.h>
#include <testing/throws.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tool/experiments/image_plans.h"
#include "tool/experiments/image_results.h"
#include "tool/experiments/image_run.h"

namespace priornet {
namespace {

namespace fs = std::filesystem;

/// The networks learn bars at the left, in the middle and at the right; the sets outside are noise and a set that is
/// missing.
ImageExperiment small_experiment(uint64_t seed) {
  ImageExperiment experiment;
  experiment.name = "small";
  experiment.title = "Bars";
  experiment.lead = "Three bars.";
  experiment.seed = seed;
  experiment.inside = "test";
  experiment.inside_title = "bars";
  experiment.outside = {{"OMNIGLOT", "noise", "OMNIGLOT"},
                        {"Paintings", "absent", ""},
                        {.title = "Dots", .set = "noise", .published = "", .balanced = false}};
  experiment.published = published_mnist();
  experiment.bootstrap.replicates = 20;
  const auto dnn = small_plan("dnn", seed);
  const auto run = run_of_seed(seed, "dnn");
  experiment.models = {
      {"DNN", run, dnn, 0}, {"MCDP", run, dnn, 3}, {"DPN", run_of_seed(seed, "dpn"), small_plan("dpn", seed), 0}};
  return experiment;
}

struct Reproduction {
  explicit Reproduction(const fs::path& out) {
    options.out = out;
    options.device = torch::kCPU;
    run.load = small_set;
  }

  nlohmann::json results() {
    NoProgress progress;
    summary = reproduce_images(small_experiment, options, run, progress);
    auto json = nlohmann::json::parse(bytes_of(options.out / "results.json"));
    json.erase("run");
    return json;
  }

  ExperimentSummary count_steps(const PlanOfSeed& plan) {
    NoProgress progress;
    options.stop = [this] {
      ++steps;
      return false;
    };
    return reproduce_images(plan, options, run, progress);
  }

  ExperimentOptions options;
  ImageRunOptions run;
  ExperimentSummary summary;
  int64_t steps = 0;  ///< training steps taken
};

TEST(ImageExperiment, WritesEveryCellBesideThePublishedOne) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  const auto results = reproduction.results();
  ASSERT_EQ(results["seeds"].size(), 1u);
  const auto& models = results["seeds"][0]["models"];
  ASSERT_EQ(models.size(), 3u);
  EXPECT_LT(models[0]["evaluation"]["in_distribution"]["error"], 0.2);
  EXPECT_EQ(models[1]["evaluation"]["dropout_samples"], 3);
  EXPECT_EQ(models[2]["evaluation"]["run"], "runs/seed-1/dpn");
  // Errors of 3 models; 9 cells per metric for misclassification and for each of the two sets that are there.
  EXPECT_EQ(results["cells"].size(), 3u + 3 * 2 * 9);
  bool found = false;
  for (const auto& cell : results["cells"]) {
    if (cell["out of distribution"] != "OMNIGLOT" || cell["model"] != "DPN" || cell["metric"] != "AUROC" ||
        cell["measure"] != "D.Ent.")
      continue;
    found = true;
    EXPECT_EQ(cell["published"], 100.0);
    EXPECT_GT(cell["ours"], 90.0);
    EXPECT_LE(cell["low"], cell["ours"]);
  }
  EXPECT_TRUE(found);
  for (const auto* name : {"results.json", "table.md", "table.csv", "report.html"})
    EXPECT_GT(bytes_of(folder / "out" / name).size(), 500u) << name;
}

TEST(ImageExperiment, CountsAsManyInputsOfEachKindOrAllOfThem) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  const auto results = reproduction.results();
  const auto aupr_of = [&](const std::string& set) {
    for (const auto& cell : results["cells"])
      if (cell["out of distribution"] == set && cell["model"] == "DNN" && cell["metric"] == "AUPR" &&
          cell["measure"] == "Ent.")
        return cell["ours"].get<double>() / 100;
    return 0.0;
  };
  for (const auto& row : results["seeds"][0]["models"][0]["evaluation"]["out_of_distribution"][0]["detection"]) {
    if (row["measure"] != "entropy") continue;
    EXPECT_NEAR(aupr_of("OMNIGLOT"), row["aupr_balanced"]["value"].get<double>(), 1e-12);
    EXPECT_NEAR(aupr_of("Dots"), row["aupr"]["value"].get<double>(), 1e-12);
  }
  EXPECT_GT(aupr_of("OMNIGLOT"), aupr_of("Dots") + 1e-3) << "60 positives against 90";
  EXPECT_NE(bytes_of(folder / "out/table.md").find("Dots was too small for that"), std::string::npos);
}

TEST(ImageExperiment, LeavesWhatAReportShows) {
  const TemporaryFolder folder;
  const auto out = folder / "out";
  Reproduction reproduction(out);
  const auto results = reproduction.results();
  EXPECT_EQ(results["title"], "Bars");
  ASSERT_GE(results["tables"].size(), 5u);
  EXPECT_EQ(results["tables"][4]["title"], "Published cells that are met or surpassed");
  EXPECT_EQ(results["tables"][0]["rows"][2][1]["published"], 0.6);
  EXPECT_EQ(results["tables"][0]["rows"][2][1]["lower_is_better"], true);
  EXPECT_EQ(results["trivial"].size(), 2u);
  EXPECT_EQ(results["headlines"][0]["label"], "error of the DNN");
  const auto curves = nlohmann::json::parse(bytes_of(out / "curves.json"));
  EXPECT_EQ(curves["sets"], nlohmann::json::array({"bars", "OMNIGLOT", "Dots"}));
  ASSERT_EQ(curves["models"].size(), 3u);
  EXPECT_EQ(curves["models"][2]["training"].size(), 2u);
  const auto images = nlohmann::json::parse(bytes_of(out / "images.json"));
  EXPECT_EQ(images["model"], "DPN");
  EXPECT_EQ(images["sets"][1]["images"].size(), 12u);
  EXPECT_EQ(images["sets"][1]["images"][0]["alpha"].size(), 3u);
  EXPECT_NE(bytes_of(out / "table.tex").find("\\toprule"), std::string::npos);
  for (const auto* name : {"results.json", "curves.json", "images.json"}) {  // indentation would double them
    const auto text = bytes_of(out / name);
    EXPECT_GE(text.find('\n'), text.size() - 1) << name;
  }
  if (const auto* keep = std::getenv("PRIORNET_KEEP_RESULTS")) {
    fs::create_directories(keep);
    for (const auto* name : {"results.json", "curves.json", "images.json"})
      fs::copy_file(out / name, fs::path(keep) / name, fs::copy_options::overwrite_existing);
  }
}

TEST(ImageExperiment, SaysWhichSetsAreMissingAndHowToGetThem) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  const auto results = reproduction.results();
  const auto& missing = results["seeds"][0]["missing"];
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0]["title"], "Paintings");
  const auto markdown = bytes_of(folder / "out" / "table.md");
  EXPECT_NE(markdown.find("| Paintings | missing: see the note |"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("Paintings is missing: priornet data get paintings gets it"), std::string::npos);
}

TEST(ImageExperiment, FailsWithoutTheSetItIsTrainedOn) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  reproduction.run.load = [](const std::string& name) { return small_set(name == "train" ? "absent" : name); };
  EXPECT_THROWS(AbsentSet, reproduction.results(), "paintings is not below /data");
}

TEST(ImageExperiment, GoesOnWhereItWasStopped) {
  const TemporaryFolder folder;
  Reproduction whole(folder / "whole");
  const auto wanted = whole.results();
  Reproduction stopped(folder / "stopped");
  for (const int64_t after :
       {3, 12, 13}) {  // within an epoch of the DNN, between two epochs, within an epoch of the DPN
    int64_t steps = 0;
    stopped.options.stop = [&] { return ++steps == after; };
    EXPECT_THROW(stopped.results(), TrainingStopped);
  }
  stopped.options.stop = {};
  EXPECT_EQ(stopped.results(), wanted);
}

TEST(ImageExperiment, TrainsNothingTwice) {
  const TemporaryFolder folder;
  Reproduction first(folder / "first");
  const auto wanted = first.results();
  const auto never = [] {
    ADD_FAILURE() << "trained again";
    return true;
  };
  first.options.stop = never;
  EXPECT_EQ(first.results(), wanted);
  // Another experiment uses the finished runs where they lie.
  Reproduction second(folder / "second");
  second.options.stop = never;
  second.run.other_runs = {folder / "first" / "runs"};
  EXPECT_EQ(second.results()["seeds"][0]["models"][2]["evaluation"]["run"], "../first/runs/seed-1/dpn");
}

TEST(ImageExperiment, GivesMeansOverSeeds) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  reproduction.options.seeds = 2;
  const auto results = reproduction.results();
  ASSERT_EQ(results["seeds"].size(), 2u);
  EXPECT_EQ(results["seeds"][1]["seed"], 2);
  const double first = results["seeds"][0]["models"][0]["evaluation"]["in_distribution"]["error"];
  const double second = results["seeds"][1]["models"][0]["evaluation"]["in_distribution"]["error"];
  EXPECT_NEAR(results["cells"][0]["ours"].get<double>(), 50 * (first + second), 1e-9);
  EXPECT_EQ(results["cells"][0]["metric"], "error");
  EXPECT_NE(bytes_of(folder / "out" / "table.md").find("by Student's t, for the mean over 2 seeds"), std::string::npos);
}

/// As in profile modern, from seed 1 on: the DPNs of the seeds are the members of an ensemble, which only the first
/// seed evaluates.
ImageExperiment small_ensemble(uint64_t seed) {
  auto experiment = small_experiment(seed);
  auto ensemble = small_plan("dpn", 1);
  ensemble.members = 2;
  const auto run = run_of_seed(1, "dpn");
  const auto member = static_cast<int64_t>(seed);
  experiment.models = {{"DNN", run_of_seed(seed, "dnn"), small_plan("dnn", seed), 0},
                       {"DPN", member_folder(run, member).generic_string(), member_config(ensemble, member), 0}};
  experiment.comparisons = {{"DPN", "differential_entropy", "DNN", "entropy"}};
  if (seed > 1) return experiment;
  experiment.models.push_back({"DPN ensemble", run, ensemble, 0});
  experiment.comparisons.push_back({"DPN ensemble", "differential_entropy", "DNN", "entropy"});
  return experiment;
}

TEST(ImageExperiment, TakesAMemberOfAnEnsembleForItself) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  const auto summary = reproduction.count_steps(small_ensemble);
  EXPECT_EQ(reproduction.steps, 3 * 2 * 10) << "three networks, two epochs of ten steps: no member twice";
  const auto results = nlohmann::json::parse(bytes_of(folder / "out" / "results.json"));
  const auto& models = results["seeds"][0]["models"];
  EXPECT_EQ(models[1]["evaluation"]["members"], 1);
  EXPECT_EQ(models[2]["evaluation"]["members"], 2);
  EXPECT_FALSE(models[1].contains("uncertainties"));
  const auto& parts = models[2]["uncertainties"];
  ASSERT_EQ(parts.size(), 3u) << "in distribution, and the two sets that are there";
  EXPECT_EQ(parts[0]["title"], "bars");
  EXPECT_FALSE(parts[0]["data"].contains("auroc"));
  EXPECT_GT(parts[1]["distributional"]["mean"], 0.0);
  EXPECT_LE(parts[1]["model"]["auroc"]["low"], parts[1]["model"]["auroc"]["value"]);
  const auto& comparison = results["seeds"][0]["comparisons"][0];
  EXPECT_EQ(comparison["sets"][1]["title"], "Dots");
  EXPECT_NEAR(comparison["sets"][0]["difference"]["value"].get<double>(),
              comparison["sets"][0]["auroc"].get<double>() - comparison["sets"][0]["auroc_against"].get<double>(),
              1e-12);
  ASSERT_GE(summary.tables.size(), 8u);
  EXPECT_EQ(summary.tables[4].title, "One network against one: DPN by D.Ent. against DNN by Ent., AUROC in %");
  EXPECT_EQ(summary.tables[5].title,
            "Two networks against one: DPN ensemble by D.Ent. against DNN by Ent., AUROC in %");
  EXPECT_EQ(summary.tables[6].title, "DPN ensemble: data, distributional and model uncertainty");
  EXPECT_EQ(summary.tables[7].title, "Published cells that are met or surpassed");
}

TEST(ImageExperiment, TakesAWholeEnsembleFromAnotherExperiment) {
  const TemporaryFolder folder;
  Reproduction(folder / "first").count_steps(small_ensemble);
  Reproduction second(folder / "second");
  second.run.other_runs = {folder / "first" / "runs"};
  second.count_steps(small_ensemble);
  EXPECT_EQ(second.steps, 0);
  const auto results = nlohmann::json::parse(bytes_of(folder / "second" / "results.json"));
  EXPECT_EQ(results["seeds"][0]["models"][2]["evaluation"]["run"], "../first/runs/seed-1/dpn");
  // If one member is not finished, no member of that ensemble is used.
  fs::remove_all(folder / "first" / "runs" / "seed-1" / "dpn" / "member-2");
  Reproduction third(folder / "third");
  third.run.other_runs = second.run.other_runs;
  third.count_steps(small_ensemble);
  EXPECT_EQ(third.steps, 2 * 2 * 10) << "both members; the DNN and the single DPN are taken";
}

/// The ensemble of small_ensemble, and before it one student of it per seed.
ImageExperiment small_student(uint64_t seed) {
  auto experiment = small_ensemble(seed);
  const auto first = small_ensemble(1);
  PlannedModel student{"Student", run_of_seed(seed, "student"), small_plan("dpn", seed)};
  student.teacher = std::make_shared<const PlannedModel>(first.models.back());
  student.config.teacher = student.teacher->run;
  experiment.models.insert(experiment.models.begin() + 2, student);
  return experiment;
}

TEST(ImageExperiment, TrainsATeacherBeforeItsStudents) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  reproduction.options.seeds = 2;
  reproduction.count_steps(small_student);
  EXPECT_EQ(reproduction.steps, (2 + 2 + 2) * 2 * 10) << "a DNN, a DPN and a student per seed";
  const auto student = read_config(folder / "out/runs/seed-2/student/config.toml");
  EXPECT_EQ(student.teacher, (folder / "out/runs/seed-1/dpn").generic_string());
}

TEST(ImageExperiment, KnowsAStudentWhereverItLies) {
  const TemporaryFolder folder;
  Reproduction(folder / "out").count_steps(small_student);
  fs::create_directories(folder / "far");
  fs::rename(folder / "out", folder / "far/away");
  Reproduction moved(folder / "far/away");
  moved.count_steps(small_student);
  EXPECT_EQ(moved.steps, 0);
  // Another experiment uses the student from there. A student of another teacher is refused.
  Reproduction other(folder / "far/other");
  other.run.other_runs = {folder / "far/away/runs"};
  other.count_steps(small_student);
  EXPECT_EQ(other.steps, 0);
  const auto of_another = [](uint64_t seed) {
    auto experiment = small_student(seed);
    experiment.models[2].config.teacher = "seed-1/others";
    return experiment;
  };
  const auto message = (folder / "far/away/runs/seed-1/student").string() +
                       ": holds a run of another configuration (profile, --set): choose another --out, or remove it";
  EXPECT_THROWS(DataError, moved.count_steps(of_another), message.c_str());
}

// The folder is moved while the student is half trained. Training goes on and ends like that of a student that was not
// moved.
TEST(ImageExperiment, GoesOnWithAStudentThatWasMoved) {
  const TemporaryFolder folder;
  Reproduction whole(folder / "whole");
  whole.count_steps(small_student);
  Reproduction stopped(folder / "stopped");
  int64_t steps = 0;
  stopped.options.stop = [&] { return ++steps == 75; };
  NoProgress progress;
  EXPECT_THROW(reproduce_images(small_student, stopped.options, stopped.run, progress), TrainingStopped);
  fs::rename(folder / "stopped", folder / "moved");
  Reproduction moved(folder / "moved");
  moved.count_steps(small_student);
  const auto models_of = [](const fs::path& out) {
    return nlohmann::json::parse(bytes_of(out / "results.json"))["seeds"][0]["models"];
  };
  EXPECT_EQ(models_of(folder / "moved"), models_of(folder / "whole"));
}

TEST(PlanImages, GivesWhatIsLeftToTrainTeachersFirst) {
  const TemporaryFolder folder;
  ExperimentOptions options;
  options.out = folder / "out";
  ImageRunOptions run;
  run.load = small_set;
  const std::vector<ImageExperiment> plans = {small_student(1), small_student(2)};
  const auto left = plan_images(plans, options, run);
  std::vector<std::string> folders;
  for (const auto& network : left) {
    folders.push_back(network.folder.lexically_relative(folder / "out/runs").generic_string());
    EXPECT_EQ(network.stage, folders.back().ends_with("student") ? 2 : 1) << folders.back();
    EXPECT_EQ(read_config(network.config).members, 1);
  }
  EXPECT_EQ(folders, (std::vector<std::string>{"seed-1/dnn", "seed-1/dpn/member-1", "seed-1/dpn/member-2", "seed-2/dnn",
                                               "seed-1/student", "seed-2/student"}));
  EXPECT_EQ(read_config(left.back().config).teacher, (folder / "out/runs/seed-1/dpn").generic_string());
  EXPECT_EQ(read_config(folder / "out/runs/seed-1/dpn/config.toml").members, 2) << "so that it can teach";
  Reproduction reproduction(folder / "out");
  reproduction.count_steps(small_student);
  const auto second = plan_images(plans, options, run);
  ASSERT_EQ(second.size(), 2u) << "the networks of the second seed";
  EXPECT_EQ(second[1].stage, 1) << "its teacher is there";
}

TEST(RunsBeside, LieInTheFoldersBesideTheResults) {
  const std::vector<fs::path> wanted = {"out/mnist/runs"};
  EXPECT_EQ(runs_beside("out/mnist-noise", {"mnist"}), wanted);
  EXPECT_EQ(runs_beside("out/mnist-noise/", {"mnist"}), wanted);
  EXPECT_EQ(runs_beside("mnist-noise", {"mnist", "svhn"}), (std::vector<fs::path>{"mnist/runs", "svhn/runs"}));
}

TEST(ImageExperiment, MakesOneEnsembleOfTheNetworksOfAllSeeds) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  reproduction.options.seeds = 3;
  const auto summary = reproduction.count_steps(small_ensemble);
  EXPECT_EQ(reproduction.steps, (3 + 3) * 2 * 10)
      << "one DNN and one DPN per seed: the ensemble trains none of its own";
  const auto results = nlohmann::json::parse(bytes_of(folder / "out" / "results.json"));
  EXPECT_EQ(results["seeds"][0]["models"].size(), 3u);
  EXPECT_EQ(results["seeds"][1]["models"].size(), 2u);
  EXPECT_EQ(results["seeds"][1]["models"][1]["evaluation"]["run"], "runs/seed-1/dpn/member-2");
  // The ensemble's numbers come from the only ensemble; the numbers of networks are means over seeds.
  const auto& errors = summary.tables[0];
  ASSERT_EQ(errors.rows.size(), 3u);
  EXPECT_NEAR(errors.rows[2][1].value(),
              100 * results["seeds"][0]["models"][2]["evaluation"]["in_distribution"]["error"].get<double>(), 1e-9);
  EXPECT_NE(errors.notes[0].find("Mean over 3 seeds"), std::string::npos) << errors.notes[0];
  EXPECT_NE(errors.notes[0].find("There is one DPN ensemble"), std::string::npos) << errors.notes[0];
  EXPECT_EQ(summary.tables[4].columns.back(), "difference of each seed") << "of the DPN";
  EXPECT_EQ(summary.tables[5].columns.back(), "p") << "of the ensemble";
  // Means over seeds by Welch's test, the paired tests beside it.
  const auto values = [&](size_t model, const char* measure) {
    std::vector<double> aurocs;
    for (const auto& seed : results["seeds"])
      for (const auto& row : seed["models"][model]["evaluation"]["out_of_distribution"][0]["detection"])
        if (row["measure"] == measure) aurocs.push_back(row["auroc"]["value"]);
    return aurocs;
  };
  const auto test = welch_test(values(1, "differential_entropy"), values(0, "entropy"));
  const auto& row = summary.tables[4].rows[0];
  EXPECT_NEAR(row[3].value(), 100 * test.difference.value, 1e-9);
  EXPECT_NEAR(row[5].value(), test.p_value, 1e-12);
  double largest = 0.0;
  for (const auto& seed : results["seeds"])
    largest = std::max(largest, seed["comparisons"][0]["sets"][0]["p_value"].get<double>());
  EXPECT_EQ(row[6].value(), largest);
  EXPECT_EQ(summary.tables[4].notes[0].find("Means over 3 and 3 seeds; interval and p by Welch's t"), 0u);
}

TEST(ImageExperiment, ShowsTheErrorBesideMisclassification) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  reproduction.results();
  const auto& table = reproduction.summary.tables[1];
  EXPECT_EQ(table.columns.back(), "error");
  for (size_t m = 0; m < 3; ++m)
    EXPECT_EQ(table.rows[m].back().value(), reproduction.summary.tables[0].rows[m][1].value()) << m;
  EXPECT_NE(table.rows[2].back().text().find(" (0.6)"), std::string::npos) << "the paper's, of the DPN";
}

TEST(ImageExperiment, SaysInAFewLinesWhatWasFound) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  reproduction.results();
  const auto& headlines = reproduction.summary.headlines;
  ASSERT_EQ(headlines.size(), 3u + 2) << "one error per model, D.Ent. of the DPN per set";
  EXPECT_EQ(headlines[2].what, "DPN: error, %");
  EXPECT_EQ(headlines[2].published, 0.6);
  EXPECT_EQ(headlines[3].what, "DPN: AUROC by D.Ent. against OMNIGLOT, %");
  EXPECT_EQ(headlines[3].published, 100.0);
}

TEST(ImageExperiment, RefusesTheRunsOfAnotherRecipe) {
  const TemporaryFolder folder;
  Reproduction reproduction(folder / "out");
  reproduction.results();
  NoProgress progress;
  const auto other = [](uint64_t seed) {
    auto experiment = small_experiment(seed);
    experiment.models[2].config.epochs = 3;
    return experiment;
  };
  const auto message = (folder / "out/runs/seed-1/dpn").string() +
                       ": holds a run of another configuration (profile, --set): choose another --out, or remove it";
  EXPECT_THROWS(DataError, reproduce_images(other, reproduction.options, reproduction.run, progress), message.c_str());
}

}  // namespace
}  // namespace priornet
