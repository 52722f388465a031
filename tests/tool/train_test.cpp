#include <testing/train_files.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

namespace fs = std::filesystem;

std::string run_in(const TrainFiles& files) { return (files / "run").string(); }

TEST(Train, NamesTheCommandsThatFollow) {
  const TrainFiles files;
  const auto trained = [&](const std::string& share) {
    return run_tool({"train", files.config(), "--out", run_in(files), "--force", "--set", "training.epochs=1", share})
        .out;
  };
  const auto evaluate =
      "Trained: " + run_in(files) + "\nEvaluate it: priornet evaluate " + run_in(files) + " --data SET --ood SET...\n";
  EXPECT_EQ(trained("data.noise=0"), evaluate);
  EXPECT_EQ(trained("data.calibration_share=0.1"),
            evaluate + "Make a model file: priornet calibrate " + run_in(files) + "\n");
}

TEST(Train, LeavesARun) {
  const TrainFiles files;
  const auto outcome = run_tool({"train", files.config(), "--out", run_in(files), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto last = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(last["epoch"], 3);
  EXPECT_LT(last["validation"]["error"], 0.1);
  EXPECT_TRUE(fs::exists(files / "run" / "config.toml"));
  EXPECT_TRUE(fs::exists(files / "run" / "metrics.jsonl"));
  EXPECT_TRUE(fs::exists(files / "run" / "checkpoints" / "step-00000030.safetensors"));
  EXPECT_NE(outcome.err.find("epoch 3 of 3"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("images/s"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("validation after epoch 3: error"), std::string::npos) << outcome.err;
}

TEST(Train, DescribesTheNetworkAndTrainsNothing) {
  const TrainFiles files;
  const auto outcome = run_tool({"train", files.config(), "--describe", "--out", run_in(files)});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("conv 3x3, 8, max pool 2x2  8 x 2 x 2  296"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("all                                   915"), std::string::npos) << outcome.out;
  EXPECT_FALSE(fs::exists(files / "run"));
}

TEST(Train, PrintsAConfigurationThatReadsBackAsItself) {
  const TrainFiles files;
  const auto first = run_tool({"train", files.config(), "--print-config", "--set", "training.epochs=7"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_NE(first.out.find("epochs = 7"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("# batch_norm  "), std::string::npos) << first.out;
  const auto again = run_tool({"train", files.text("again.toml", first.out), "--print-config"});
  EXPECT_EQ(again.out, first.out) << again.err;
}

TEST(Train, KeepsARunThatIsThereUnlessToldOtherwise) {
  const TrainFiles files;
  const auto config = files.config("seed = 3\n");
  ASSERT_EQ(run_tool({"train", config, "--out", run_in(files)}).status, 0);
  const auto checkpoint = files / "run" / "checkpoints" / "step-00000030.safetensors";
  const auto before = bytes_of(checkpoint);
  expect_failure(run_tool({"train", config, "--out", run_in(files)}),
                 run_in(files) + ": already holds a run: --resume goes on with it, --force removes it");
  EXPECT_EQ(bytes_of(checkpoint), before);
  const auto done = run_tool({"train", config, "--out", run_in(files), "--resume", "--json"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(nlohmann::json::parse(done.out)["epoch"], 3);
  EXPECT_TRUE(bytes_of(files / "run" / "metrics.jsonl").ends_with("\n" + done.out));
  EXPECT_EQ(bytes_of(checkpoint), before);
  EXPECT_EQ(run_tool({"train", config, "--out", run_in(files), "--force", "--set", "training.seed=4"}).status, 0);
  EXPECT_NE(bytes_of(checkpoint), before);
}

TEST(Train, RemovesARunOnlyForOneThatCanBeTrained) {
  const TrainFiles files;
  ASSERT_EQ(run_tool({"train", files.config(), "--out", run_in(files), "--set", "data.calibration_share=0.1"}).status,
            0);
  const auto parts = {"config.toml", "metrics.jsonl", "preparation.safetensors",
                      "checkpoints/step-00000027.safetensors"};
  std::vector<std::string> before;
  for (const auto* part : parts) before.push_back(bytes_of(files / "run" / part));
  for (const auto* set : {"data.train=./none.npz", "outside.source=./none", "model.channels=[1]", "training.batch=1000",
                          "data.shift=8", "data.cutout=9", "method.epsilon=0.5", "data.noise=inf"})
    for (const auto* members : {"1", "2"})
      EXPECT_EQ(run_tool({"train", files.config(), "--out", run_in(files), "--force", "--set", set,
                          std::string("method.members=") + members})
                    .status,
                1)
          << set;
  size_t at = 0;
  for (const auto* part : parts) EXPECT_EQ(bytes_of(files / "run" / part), before[at++]) << part;
}

TEST(Train, RefusesToResumeWhatDiffersAndLeavesItAsItIs) {
  const TrainFiles files;
  ASSERT_EQ(run_tool({"train", files.config(), "--out", run_in(files)}).status, 0);
  const auto checkpoint = files / "run" / "checkpoints" / "step-00000030.safetensors";
  const auto before = bytes_of(checkpoint);
  const auto config = bytes_of(files / "run" / "config.toml");
  const auto resume = [&](const std::string& set) {
    return run_tool({"train", files.config(), "--out", run_in(files), "--resume", "--set", set});
  };
  expect_failure(resume("training.rate=0.1"),
                 (files / "run" / "config.toml").string() +
                     ": has another configuration: \"rate = 0.005\" there, \"rate = 0.1\" here");
  EXPECT_EQ(resume("model.dense=[17]").status, 1);
  EXPECT_EQ(bytes_of(checkpoint), before);
  EXPECT_EQ(bytes_of(files / "run" / "config.toml"), config);
}

TEST(Train, GoesOnForAsLongAsTheRunWasMeantTo) {
  const TrainFiles files;
  const std::vector<std::string> train = {"train", files.config(), "--out", run_in(files)};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), train.begin(), train.end());
    return run_tool(more);
  };
  const auto epochs_in_config = [&] {
    const auto config = bytes_of(files / "run" / "config.toml");
    return config.substr(config.find("epochs = "), 10);
  };
  ASSERT_EQ(with({"--epochs", "5"}).status, 0);
  EXPECT_EQ(with({"--resume"}).status, 0);
  EXPECT_EQ(epochs_in_config(), "epochs = 5") << "the file says 3";
  const auto shorter = with({"--resume", "--epochs", "2"});
  EXPECT_EQ(shorter.status, 1);
  EXPECT_NE(shorter.err.find("the run in " + run_in(files) + " has 5 epochs already; give at least as many, found 2\n"),
            std::string::npos)
      << shorter.err;
  EXPECT_EQ(epochs_in_config(), "epochs = 5");
  EXPECT_EQ(with({"--resume", "--epochs", "6"}).status, 0);
  EXPECT_EQ(epochs_in_config(), "epochs = 6");
}

TEST(Train, GoesOnFromTheCheckpointBeforeADamagedOneAndSaysSo) {
  const TrainFiles files;
  ASSERT_EQ(run_tool({"train", files.config(), "--out", run_in(files)}).status, 0);
  const auto checkpoint = files / "run" / "checkpoints" / "step-00000030.safetensors";
  const auto before = bytes_of(checkpoint);
  const auto cut = before.substr(0, before.size() / 2);
  auto flipped = before;
  flipped[flipped.size() - 100] ^= 1;
  for (const auto& damaged : {cut, flipped}) {
    std::ofstream(checkpoint, std::ios::binary) << damaged;
    const auto resumed = run_tool({"train", files.config(), "--out", run_in(files), "--resume"});
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_NE(resumed.err.find(checkpoint.string() + ": is "), std::string::npos) << resumed.err;
    EXPECT_NE(resumed.err.find("it is set aside as step-00000030.safetensors.damaged, and the run goes on from "
                               "step-00000020.safetensors\n"),
              std::string::npos)
        << resumed.err;
    EXPECT_TRUE(bytes_of(checkpoint) == before) << "the run ends as it did";
    EXPECT_TRUE(bytes_of(checkpoint.string() + ".damaged") == damaged);
  }
}

TEST(Train, LocatesMistakesInTheConfiguration) {
  const TrainFiles files;
  const auto config = files.config("epoch = 3\n");
  const auto misspelt = run_tool({"train", config});
  EXPECT_EQ(misspelt.status, 1);
  EXPECT_NE(misspelt.err.find("small.toml: line 20: "), std::string::npos) << misspelt.err;
  EXPECT_NE(misspelt.err.find("epochs"), std::string::npos) << misspelt.err;
  const auto impossible = run_tool({"train", files.config("clip = -1\n")});
  EXPECT_EQ(impossible.status, 1);
  EXPECT_NE(impossible.err.find("small.toml: line 20: "), std::string::npos) << impossible.err;
  EXPECT_EQ(run_tool({"train", (files / "none.toml").string()}).status, 2);
}

#if !defined(PRIORNET_CUDA)
TEST(Train, SaysWhereTheConfigurationStandsIfSetTookIt) {
  const TrainFiles files;
  const auto outcome = run_tool({"train", "--set", "training.epochs=1", files.config()});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "priornet: --set: " + files.config() +
                " should be KEY=VALUE; the configuration comes before --set (see priornet train --help)\n");
}

TEST(Train, SaysAtOnceThatThereIsNoGpu) {
  const TrainFiles files;
  expect_failure(run_tool({"train", files.config(), "--out", run_in(files), "--device", "cuda"}),
                 "--device cuda: this build has no CUDA kernels; use --device cpu");
  EXPECT_FALSE(fs::exists(files / "run"));
}
#endif

}  // namespace
}  // namespace priornet
