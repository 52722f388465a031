#include <testing/small_experiment.h>
#include <testing/tool.h>
#include <testing/train_files.h>
#include "tool/experiments/image_run.h"
#include "tool/report/figure.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace priornet {
namespace {

TEST(Reproduce, WritesTablesFiguresAndReport) {
  const TemporaryFolder folder;
  const auto out = folder / "out";
  const auto done = run_tool({"reproduce", "synthetic", "--profile", "quick", "--out", out.string()});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find("Diff. entropy"), std::string::npos);
  EXPECT_NE(done.out.find((out / "report.html").string()), std::string::npos);
  EXPECT_NE(done.err.find("DPN, sigma 4"), std::string::npos);
  EXPECT_EQ(done.err.find('\r'), std::string::npos) << "a progress bar where there is no terminal";
  for (const auto* name : {"results.json", "maps.json", "table.md", "table.tex", "table.csv", "report.html"})
    EXPECT_GT(bytes_of(out / name).size(), 100u) << name;
  if (can_render()) {
    for (const auto* name : {"figure1", "figure2", "figure3", "comparison"})
      for (const auto* ending : {".svg", ".png"})
        EXPECT_GT(bytes_of(out / (std::string(name) + ending)).size(), 1000u) << name << ending;
  }
  const auto results = nlohmann::json::parse(bytes_of(out / "results.json"));
  EXPECT_EQ(results["run"]["command"], "priornet reproduce synthetic --profile quick --out " + out.string());
  for (const auto& entry : results["seeds"][0]["cases"])
    EXPECT_GT(entry["dpn"]["differential_entropy"]["auroc"], 0.97) << "sigma " << entry["sigma"];
}

TEST(Reproduce, RecordsACommandThatGivesTheSameNumbers) {
  const TemporaryFolder folder;
  const auto out = folder / "results of mine";
  const std::vector<std::string> asked{"--threads", "1",          "reproduce", "synthetic", "--profile",
                                       "quick",     "--device",   "cpu",       "--seed",    "7",
                                       "--out",     out.string(), "--json"};
  // Removes the folder, so that the next run trains again.
  const auto results_of = [&](const std::vector<std::string>& arguments) {
    const auto done = run_tool(arguments);
    EXPECT_EQ(done.status, 0) << done.err;
    const auto json = nlohmann::json::parse(bytes_of(out / "results.json"));
    std::filesystem::remove_all(out);
    return json;
  };
  const auto first = results_of(asked);
  const auto command = words_of(first["run"]["command"]);
  EXPECT_EQ(command.front(), "priornet");
  EXPECT_EQ(std::multiset<std::string>(command.begin() + 1, command.end()),
            std::multiset<std::string>(asked.begin(), asked.end()));
  const auto again = results_of({command.begin() + 1, command.end()});
  EXPECT_EQ(first["run"]["command"], again["run"]["command"]);
  EXPECT_EQ(first["seeds"], again["seeds"]);
}

TEST(Reproduce, ListsTheExperimentsItKnows) {
  const auto done = run_tool({"reproduce", "synthetic", "imagenet"});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("unknown experiment 'imagenet'; known: synthetic"), std::string::npos) << done.err;
}

TEST(Reproduce, ChecksTheFolderBeforeItTrains) {
  const TemporaryFolder folder;
  const auto taken = folder.file("taken", "").string();
  const auto done = run_tool({"reproduce", "synthetic", "--out", taken});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err.find("DNN"), std::string::npos) << "training had begun: " << done.err;
  EXPECT_EQ(done.err.find("priornet: " + taken + ": cannot be "), 0u) << done.err;
}

TEST(Reproduce, SaysHowToGetTheDataItLacks) {
  const TemporaryFolder folder;
  ::setenv("PRIORNET_DATA", (folder / "none").c_str(), 1);
  for (const auto* name : {"mnist", "mnist-noise"}) {
    const auto done = run_tool({"reproduce", name, "--out", (folder / "out").string()});
    EXPECT_EQ(done.status, 1);
    EXPECT_EQ(done.err.find("priornet: mnist (train) is not in " + (folder / "none").string() +
                            ": priornet data get mnist gets it"),
              0u)
        << done.err;
  }
}

TEST(Reproduce, SaysWhatItNeedsBeyondThePaper) {
  const TemporaryFolder folder;
  ::setenv("PRIORNET_DATA", (folder / "none").c_str(), 1);
  const auto out = (folder / "out").string();
  for (const auto& [name, set] :
       {std::pair{"openood", "openood (cifar10-val)"}, std::pair{"reasons", "cifar10h (test)"}}) {
    expect_failure(run_tool({"reproduce", name, "--out", out}),
                   std::string(name) + " is not in the paper and has no profile paper: give --profile modern or quick");
    EXPECT_FALSE(std::filesystem::exists(out));
    const auto done = run_tool({"reproduce", name, "--profile", "quick", "--out", out});
    EXPECT_EQ(done.status, 1);
    EXPECT_NE(done.err.find(std::string("priornet: ") + set + " is not in " + (folder / "none").string()),
              std::string::npos)
        << done.err;
    std::filesystem::remove_all(out);
  }
}

TEST(Reproduce, GoesThroughAllAndSumsUp) {
  const TemporaryFolder folder;
  ::setenv("PRIORNET_DATA", (folder / "none").c_str(), 1);
  const auto out = folder / "out";
  const auto done = run_tool({"reproduce", "all", "--profile", "quick", "--out", out.string()});
  EXPECT_EQ(done.status, 1) << "the data is missing";
  EXPECT_NE(done.err.find("priornet: 4 of 5 experiments failed: mnist, mnist-noise, svhn, cifar10"), std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find("priornet: cifar10: cifar10 ("), std::string::npos) << done.err;
  EXPECT_NE(done.out.find("How long it took"), std::string::npos) << done.out;
  EXPECT_TRUE(std::filesystem::exists(out / "synthetic" / "report.html"));
  const auto summary = nlohmann::json::parse(bytes_of(out / "summary.json"));
  EXPECT_EQ(summary["command"], "priornet reproduce all --profile quick --out " + out.string());
  const auto& rows = summary["tables"].back()["rows"];
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0]["outcome"], "done");
  EXPECT_GT(rows[0]["wall time, s"], 0);
}

/// A black CIFAR-10 training set of the true size, where the tool looks for it.
void lay_out_black_cifar10(const std::filesystem::path& root) {
  std::filesystem::create_directories(root / "cifar-10-batches-bin");
  for (const auto* number : {"1", "2", "3", "4", "5"}) {
    const auto file = root / "cifar-10-batches-bin" / (std::string("data_batch_") + number + ".bin");
    std::ofstream(file).close();
    std::filesystem::resize_file(file, 10'000 * 3073);  // with holes, which take no room
  }
}

// Whatever fails: here the system, which follows no link to itself.
TEST(Reproduce, GoesOnAfterAFailureOfTheSystem) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("mnist", folder / "mnist");
  const auto done = run_tool(
      {"reproduce", "mnist", "synthetic", "--only", "DPN", "--profile", "quick", "--out", (folder / "").string()});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("priornet: mnist: "), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("priornet: 2 of 2 experiments failed: mnist, synthetic\n"), std::string::npos) << done.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "summary.json"));
}

TEST(Reproduce, PrintsWhatIsLeftToTrain) {
  const TemporaryFolder folder;
  lay_out_black_cifar10(folder / "data");
  ::setenv("PRIORNET_DATA", (folder / "data").c_str(), 1);
  const auto out = folder / "out of mine";
  const std::vector<std::string> asked = {"reproduce", "cifar10", "--profile", "modern",
                                          "--seeds",   "2",       "--set",     "method.members=2",
                                          "--device",  "cpu",     "--out",     out.string()};
  auto plan = asked;
  plan.emplace_back("--plan");
  const auto done = run_tool(plan);
  ASSERT_EQ(done.status, 0) << done.err;
  std::vector<std::string> lines;
  std::istringstream text(done.out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 2u + 8) << "DNN, OE and DPN of two seeds are the members of the ensembles; two students";
  EXPECT_EQ(lines[0], "# stage 1: 6 networks");
  EXPECT_EQ(lines[7], "# stage 2: 2 networks, to learn from those above");
  EXPECT_EQ(words_of(lines[1]),
            (std::vector<std::string>{"priornet", "train", (out / "plan/seed-1-dnn-member-1.toml").string(), "--out",
                                      (out / "runs/seed-1/dnn/member-1").string(), "--resume", "--device", "cpu"}));
  EXPECT_EQ(words_of(lines[9])[4], (out / "runs/seed-2/dpn-distilled").string());
  for (size_t i : {1, 2, 3, 4, 5, 6, 8, 9}) EXPECT_TRUE(std::filesystem::exists(words_of(lines[i])[2])) << lines[i];
  plan.emplace_back("--json");
  const auto json = nlohmann::json::parse(run_tool(plan).out);
  ASSERT_EQ(json.size(), 8u);
  EXPECT_EQ(json[7]["stage"], 2);
  EXPECT_EQ(json[7]["command"], lines[9]);
}

TEST(Reproduce, PrintsWhatIsLeftToTrainForTheModelsOfAPart) {
  const TemporaryFolder folder;
  lay_out_black_cifar10(folder / "data");
  ::setenv("PRIORNET_DATA", (folder / "data").c_str(), 1);
  const auto out = (folder / "out").string();
  const auto plan_of = [&](const std::string& experiment, const std::string& only) {
    return run_tool({"reproduce", experiment, "--profile", "modern", "--seeds", "2", "--set", "method.members=2",
                     "--only", only, "--out", out, "--plan", "--json"});
  };
  const auto folders = [&](const std::string& experiment, const std::string& only) {
    std::vector<std::string> names;
    for (const auto& network : nlohmann::json::parse(plan_of(experiment, only).out))
      names.push_back(
          std::filesystem::path(network["folder"].get<std::string>()).lexically_relative(out + "/runs").string());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(folders("cifar10", "OE"), (Names{"seed-1/oe/member-1", "seed-1/oe/member-2"}));
  EXPECT_EQ(folders("cifar10", "DPN distilled"),
            (Names{"seed-1/dpn/member-1", "seed-1/dpn/member-2", "seed-1/dpn-distilled", "seed-2/dpn-distilled"}));
  EXPECT_EQ(folders("openood", "DNN"), (Names{"seed-1/dnn/member-1", "seed-1/dnn/member-2"}));
  EXPECT_EQ(folders("relatives", "EDL"), (Names{"seed-1/edl", "seed-2/edl"}));
  EXPECT_EQ(folders("reasons", "DPN forward"), (Names{"seed-1/dpn-forward", "seed-2/dpn-forward"}));
  expect_failure(plan_of("cifar10", "OE,DPM"),
                 "unknown model 'DPM'; known: DNN; OE; DPN; DPN distilled; DNN ensemble; OE ensemble; DPN ensemble");
  expect_failure(run_tool({"reproduce", "synthetic", "--only", "DPN", "--out", out}),
                 "the synthetic experiment is not made in parts: leave --only out");
}

/// Two networks, an ensemble of them, and a student of it.
ImageExperiment small_experiment_on(const TrainFiles& files) {
  auto config = small_plan("dpn", 1);
  config.train = config.validation = files.set();
  ImageExperiment experiment;
  experiment.name = "small";
  experiment.inside = files.set();
  experiment.inside_title = "bars";
  experiment.outside = {{"The same", files.set(), ""}};
  experiment.bootstrap.replicates = 2;
  PlannedModel ensemble{"Ensemble", "seed-1/dpn", config};
  ensemble.config.members = 2;
  PlannedModel student{"Student", "seed-1/student", config};
  student.config.teacher = ensemble.run;
  student.teacher = std::make_shared<const PlannedModel>(ensemble);
  experiment.models = {{"DPN", "seed-1/dpn/member-1", member_config(ensemble.config, 1)}, student, ensemble};
  return experiment;
}

TEST(Reproduce, TakesTheNetworksOfItsPlanAsItsOwn) {
  const TrainFiles files;
  ExperimentOptions options;
  options.out = files / "out";
  options.device = torch::kCPU;
  const auto plan = small_experiment_on(files);
  for (const auto& network : plan_images({plan}, options, {})) {
    const auto done =
        run_tool({"train", network.config.string(), "--out", network.folder.string(), "--resume", "--device", "cpu"});
    ASSERT_EQ(done.status, 0) << done.err;
  }
  EXPECT_EQ(plan_images({plan}, options, {}).size(), 0u);
  // The same after the folder was moved: then the teacher of the student has another path.
  std::filesystem::create_directories(files / "far");
  std::filesystem::rename(options.out, files / "far/away");
  options.out = files / "far/away";
  EXPECT_EQ(plan_images({plan}, options, {}).size(), 0u);
  options.stop = [] {
    ADD_FAILURE() << "trained again";
    return true;
  };
  NoProgress progress;
  const auto summary = reproduce_images([&](uint64_t) { return plan; }, options, {}, progress);
  EXPECT_EQ(summary.tables[0].rows.size(), 3u);
  const auto results = nlohmann::json::parse(bytes_of(options.out / "results.json"));
  EXPECT_EQ(results["seeds"][0]["models"][1]["evaluation"]["run"], "runs/seed-1/student");
  EXPECT_NE(results["options"]["models"][1]["config"].get<std::string>().find("teacher = \"seed-1/dpn\""),
            std::string::npos)
      << "no path of this machine";
}

TEST(Reproduce, PlansOnlyWhatHasAConfiguration) {
  expect_misuse(run_tool({"reproduce", "synthetic", "--plan"}),
                "--plan: synthetic has no configurations that priornet train could take (see priornet reproduce "
                "--help)");
}

TEST(Reproduce, SetsOnlyWhatHasAConfiguration) {
  const TemporaryFolder folder;
  const auto out = (folder / "out").string();
  expect_failure(run_tool({"reproduce", "synthetic", "--set", "training.epochs=1", "--out", out}),
                 "the synthetic experiment has no configuration file, so there is nothing for --set to change");
  expect_failure(run_tool({"reproduce", "mnist", "--set", "training.epoch=1", "--out", out}),
                 "--set training.epoch=1: there is no key training.epoch; did you mean training.epochs?");
}

TEST(Reproduce, SaysThatEverySettingTakesASetOfItsOwn) {
  const auto outcome = run_tool({"reproduce", "mnist", "--set", "training.epochs=1", "training.seed=3"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "priornet: WHAT: 'training.seed=3' is not an experiment; write --set before each setting (see priornet "
            "reproduce --help)\n");
}

TEST(Reproduce, RejectsUnknownProfilesDevicesAndNoSeeds) {
  EXPECT_EQ(run_tool({"reproduce", "synthetic", "--profile", "fast"}).status, 2);
  EXPECT_EQ(run_tool({"reproduce", "synthetic", "--device", "tpu"}).status, 2);
  EXPECT_EQ(run_tool({"reproduce", "synthetic", "--seeds", "0"}).status, 2);
  EXPECT_EQ(run_tool({"reproduce"}).status, 2);
}

}  // namespace
}  // namespace priornet
