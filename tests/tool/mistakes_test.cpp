#include <testing/small_models.h>
#include <testing/started_process.h>
#include <testing/tool.h>
#include <testing/train_files.h>

// Commands of people who have not read the manual, and what the tool answers.

namespace priornet {
namespace {

namespace fs = std::filesystem;

// The tool, in a folder of its own.
Outcome run_tool_in(const fs::path& folder, const std::string& arguments) {
  return run_process(
      {"/bin/sh", "-c", "cd \"$1\" && exec \"$2\" " + arguments, "sh", folder.string(), PRIORNET_TOOL_PATH});
}

TEST(Mistakes, AnUnknownOptionIsNamedWithTheNearestOne) {
  expect_misuse(run_tool({"train", "--epoch", "3"}),
                "there is no option --epoch; did you mean --epochs? (see priornet train --help)");
  expect_misuse(run_tool({"train", "--epoch=3"}),
                "there is no option --epoch; did you mean --epochs? (see priornet train --help)");
  expect_misuse(run_tool({"train", "-epochs", "3"}),
                "there is no option -epochs; did you mean --epochs? (see priornet train --help)");
  expect_misuse(run_tool({"measure", "a.npy", "--colour", "red"}),
                "there is no option --colour (see priornet measure --help)");
  expect_misuse(run_tool({"train", "--treads", "3"}),
                "there is no option --treads; did you mean --threads? (see priornet train --help)");
  expect_misuse(run_tool({"--hlep"}), "there is no option --hlep; did you mean --help? (see priornet --help)");
}

TEST(Mistakes, AnUnknownSubcommandIsNamedWithTheNearestOne) {
  expect_misuse(run_tool({"trian", "--data", "photos"}),
                "there is no subcommand trian; did you mean train? (see priornet --help)");
  expect_misuse(run_tool({"detekt"}), "there is no subcommand detekt; did you mean detect? (see priornet --help)");
  expect_misuse(run_tool({"xylophone"}), "there is no subcommand xylophone (see priornet --help)");
  expect_misuse(run_tool({"help", "trian"}), "there is no subcommand trian; did you mean train? (see priornet --help)");
}

TEST(Mistakes, HelpIsASubcommandToo) {
  const auto asked = run_tool({"help", "train"});
  EXPECT_EQ(asked.status, 0);
  EXPECT_EQ(asked.out, run_tool({"train", "--help"}).out);
  EXPECT_NE(asked.out.find("\nAlso: --threads, --quiet (see priornet --help)\n"), std::string::npos) << asked.out;
  EXPECT_EQ(run_tool({"help", "data", "show"}).out, run_tool({"data", "show", "--help"}).out);
  EXPECT_EQ(run_tool({"help"}).out, run_tool({"--help"}).out);
}

TEST(Mistakes, TheKeysThatPeopleChangeMostAreOptionsOfTrain) {
  const TrainFiles files;
  const auto printed = run_tool({"train", files.config(), "--epochs", "7", "--rate", "0.25", "--batch", "13",
                                 "--seed=5", "--model", "resnet18", "--print-config"});
  ASSERT_EQ(printed.status, 0) << printed.err;
  for (const auto* line : {"epochs = 7 ", "rate = 0.25 ", "batch = 13 ", "seed = 5 ", "name = \"resnet18\" "})
    EXPECT_NE(printed.out.find(line), std::string::npos) << line << " is missing in\n" << printed.out;
  const auto both =
      run_tool({"train", files.config(), "--epochs", "7", "--set", "training.epochs=8", "--print-config"});
  EXPECT_NE(both.out.find("epochs = 8 "), std::string::npos) << "--set is the last word";
  expect_misuse(run_tool({"train", files.config(), "--epochs", "0"}),
                "--epochs: should be a whole number from 1 to 1000000000, found 0 (see priornet train --help)");
  EXPECT_NE(run_tool({"train", files.config(), "--model", "vgg"}).err.find("model.name should be one of "),
            std::string::npos);
}

TEST(Mistakes, AValueThatIsNoNumberIsNamedWithWhatIsWanted) {
  const auto refused = [](const std::string& subcommand, const std::string& option, const std::string& value,
                          const std::string& wanted) {
    expect_misuse(run_tool({subcommand, option, value}),
                  option + ": should be " + wanted + ", found " + value + " (see priornet " + subcommand + " --help)");
  };
  for (const auto* value : {"abc", "3.5", "1e3", "", "7 ", "99999999999999999999"})
    refused("train", "--epochs", value, "a whole number from 1 to 1000000000");
  refused("train", "--rate", "fast", "a number above 0");
  refused("train", "--seed", "-1", "a whole number of at least 0");
  refused("evaluate", "--batch", "0", "a whole number of at least 1");
  refused("evaluate", "--noise", "nan", "a number of at least 0");
  refused("serve", "--port", "http", "a whole number from 0 to 65535");
  refused("calibrate", "--false-alarm", "5%", "a number from 1e-06 to 0.999");
  expect_misuse(run_tool({"bench", "--classes", "10,many"}),
                "--classes: should be a whole number from 2 to 1000000, found many (see priornet bench --help)");
}

// They would be 18446744073709551615 and so on.
TEST(Mistakes, ASeedBelowZeroIsRefused) {
  for (const auto* subcommand : {"reproduce", "evaluate", "measure", "detect"})
    for (const auto* seed : {"-1", "18446744073709551616"})
      expect_misuse(run_tool({subcommand, "--seed", seed}), "--seed: should be a whole number of at least 0, found " +
                                                                std::string(seed) + " (see priornet " + subcommand +
                                                                " --help)");
  const InputFiles files;
  const auto logits = files.npy("z.npy", torch::zeros({2, 2, 3}));
  const auto with = [&](const char* seed) { return run_tool({"measure", logits, "--seed", seed}); };
  EXPECT_EQ(with("18446744073709551615").status, 0) << with("18446744073709551615").err;
  EXPECT_EQ(with("010").out, with("10").out) << "not octal";
}

TEST(Mistakes, AnOptionWithoutItsValueSaysSo) {
  expect_misuse(run_tool({"train", "--data"}), "--data needs a value (see priornet train --help)");
  expect_misuse(run_tool({"train", "--data", "--epochs", "3"}), "--data needs a value (see priornet train --help)");
  expect_misuse(run_tool({"train", "--data", "--quiet"}), "--data needs a value (see priornet train --help)");
  expect_misuse(run_tool({"evaluate", "--ood"}), "--ood needs a value (see priornet evaluate --help)");
  expect_misuse(run_tool({"train", "--epochs", "-1"}),
                "--epochs: should be a whole number from 1 to 1000000000, found -1 (see priornet train --help)");
}

TEST(Mistakes, ANetworkThatDoesNotTakeTheSetIsRefusedBeforeThereIsAFolder) {
  const InputFiles files;
  std::string text = "a,b,kind\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i) + "," + std::to_string(i * i) + ".5," + (i % 2 == 0 ? "yes" : "no") + "\n";
  const auto data = files.text("rows.csv", text) + ",label=kind";
  const auto run = (files / "run").string();
  for (const auto* network : {"vgg6", "resnet18", "wide-resnet-28-10"}) {
    const auto refused = run_tool({"train", "--data", data, "--model", network, "--out", run});
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(
        refused.err.find("model " + std::string(network) + " takes images, not rows of numbers (inputs of shape [2])"),
        std::string::npos)
        << refused.err;
    EXPECT_FALSE(fs::exists(run));
  }
}

TEST(Mistakes, AMessageNamesWhatThereIs) {
  const auto experiment = run_tool({"reproduce", "foo"});
  EXPECT_EQ(experiment.status, 2);
  EXPECT_NE(experiment.err.find(", all (see priornet reproduce --help)"), std::string::npos) << experiment.err;
  expect_failure(run_tool({"data", "get", "mnist", "--part", "foo"}), "mnist has no part foo (it has train, test)");
}

TEST(Mistakes, APathWithACommaIsToldFromAModifier) {
  const InputFiles files;
  const auto table = files.text("a,b,c.csv", "x,kind\n1,yes\n");
  fs::create_directories(files / "photos, new");
  const auto image = files.text("photos, new/1.png", "");
  const auto refused = [](const std::string& set, const std::string& part) {
    expect_failure(run_tool({"data", "show", set}), "data set '" + set + "': '" + part +
                                                        "' is part of a path, and a path must not hold a comma: make a "
                                                        "link without a comma (ln -s) and name that");
  };
  refused(table + ",label=kind", "b");
  refused((files / "photos, new").string(), " new");
  refused(image, " new/1.png");
}

TEST(Mistakes, AHostIsNamedWithoutItsScheme) {
  for (const auto* name : {"https://models.example.org", "models.example.org:443", "models.example.org/"})
    expect_misuse(run_tool({"serve", "digits:", "--port", "0", "--allow-host", name}),
                  "--allow-host: " + std::string(name) +
                      " should be the name of a host alone, such as models.example.org: no https:// before it and no "
                      "port or path after it (see priornet serve --help)");
}

TEST(Mistakes, AKeyWithoutItsTableIsNamedWithIt) {
  const TrainFiles files;
  expect_failure(run_tool({"train", files.config(), "--set", "epochs=3"}),
                 "--set epochs=3: there is no key epochs; did you mean training.epochs?");
  expect_failure(run_tool({"train", files.config(), "--set", "model.epochs=3"}),
                 "--set model.epochs=3: there is no key model.epochs; did you mean training.epochs?");
  expect_failure(run_tool({"train", files.config(), "--set", "name=mlp"}),
                 "--set name=mlp: there is no key name; did you mean method.name or model.name?");
}

TEST(Mistakes, ThreadsAndQuietMayStandAnywhere) {
  const InputFiles files;
  const auto logits = files.npy("z.npy", torch::zeros({2, 3}));
  const auto said = run_tool({"measure", logits});
  ASSERT_EQ(said.status, 0) << said.err;
  for (const auto& words : std::vector<std::vector<std::string>>{{"--threads", "1", "measure", logits},
                                                                 {"measure", "--threads", "1", logits, "--quiet"},
                                                                 {"measure", logits, "--threads=1"}})
    EXPECT_EQ(run_tool(words).out, said.out);
  expect_misuse(run_tool({"measure", logits, "--threads", "0"}),
                "--threads: should be a whole number from 1 to 4096, found 0 (see priornet measure --help)");
}

// A model of three numbers, and rows for it.
struct ModelFiles : InputFiles {
  ModelFiles() {
    write_model_file(model, small_table_model());
    npy("rows.npy", torch::zeros({30, 3}));
  }
  std::string model = (*this / "small.priornet").string();
  std::string rows = (*this / "rows.npy").string();
};

// The tool starts itself again with the variable that makes idle threads sleep soon.
TEST(Mistakes, ThreadsThatWaitTakeNoProcessorFromOthers) {
  const ModelFiles files;
  const auto waits_of = [&](const std::vector<std::string>& variables) {
    StartedProcess serving({PRIORNET_TOOL_PATH, "serve", files.model, "--port", "0"}, variables);
    const auto found = "/proc/" + std::to_string(serving.id()) + "/environ";
    for (int i = 0; i < 3000; ++i) {
      const auto text = bytes_of(found);
      for (const auto* waits : {"GOMP_SPINCOUNT=10000", "OMP_WAIT_POLICY=active"})
        if (text.find(waits) != std::string::npos) return std::string(waits);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return std::string();
  };
  for (const auto* variable : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) ::unsetenv(variable);  // as for a user
  EXPECT_EQ(waits_of({}), "GOMP_SPINCOUNT=10000");
  EXPECT_EQ(waits_of({"OMP_WAIT_POLICY=active"}), "OMP_WAIT_POLICY=active") << "whoever says how threads wait is heard";
}

TEST(Mistakes, QuietTrainingSaysNothingButWhatFollows) {
  const TrainFiles files;
  const auto run = (files / "run").string();
  const auto trained = run_tool({"train", files.config(), "--out", run, "--epochs", "1", "--quiet"});
  EXPECT_EQ(trained.status, 0);
  EXPECT_EQ(trained.err, "");
  EXPECT_TRUE(trained.out.starts_with("Trained: " + run + "\n")) << trained.out;
}

TEST(Mistakes, PredictSaysWhatItWrote) {
  const ModelFiles files;
  const auto out = (files / "out.csv").string();
  const auto said = run_tool({"predict", files.model, files.rows, "--out", out});
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.out, "");
  EXPECT_TRUE(said.err.starts_with("predicting ")) << said.err;
  EXPECT_TRUE(said.err.ends_with("  30 inputs\n30 predictions written to " + out + "\n")) << said.err;
  EXPECT_EQ(run_tool({"predict", files.model, files.rows, "--out", out, "--quiet"}).err, "");
  EXPECT_EQ(run_tool({"predict", files.model, files.rows}).err, "") << "rows show how far it is";
}

TEST(Mistakes, AnUnknownEndingOfAnOutputIsRefusedBeforeAnyWork) {
  const ModelFiles files;
  const auto out = (files / "out.xlsx").string();
  expect_misuse(run_tool({"predict", files.model, files.rows, "--out", out}),
                "--out: " + out + " should end in .csv, .jsonl or .txt (see priornet predict --help)");
  EXPECT_FALSE(fs::exists(out));
  EXPECT_EQ(run_tool({"predict", files.model, files.rows, "--out", out, "--format", "csv"}).status, 0);
  expect_misuse(run_tool({"calibrate", (files / "").string(), "--out", "m.onnx"}),
                "--out: m.onnx should end in .priornet (see priornet calibrate --help)");
  expect_misuse(run_tool({"data", "show", files.rows, "--out", "sheet.jpg"}),
                "--out: sheet.jpg should end in .png (see priornet data show --help)");
  expect_misuse(run_tool({"report", (files / "").string(), "--format", "csv", "--out", "r.html"}),
                "--out: r.html should end in .csv (see priornet report --help)");
}

TEST(Mistakes, APortOutOfRangeIsToldTheRange) {
  const ModelFiles files;
  for (const auto* port : {"70000", "-1"})
    expect_misuse(run_tool({"serve", files.model, "--port", port}),
                  std::string("--port: should be a whole number from 0 to 65535, found ") + port +
                      " (see priornet serve --help)");
}

TEST(Mistakes, ATableIsNoModelFile) {
  const InputFiles files;
  const auto table = files.text("t.csv", "width,length,kind\n1,2,oak\n");
  const auto message =
      table + ": is not a model file: it begins with \"width,length,kind\"; priornet calibrate RUN makes one";
  expect_failure(run_tool({"predict", table, table}), message);
  expect_failure(run_tool({"serve", table, "--port", "0"}), message);
  const auto bytes = files.text("b.pt", "PK\x03\x04\x05\x06\x07\x08\x09\x01");
  expect_failure(run_tool({"export", bytes, "--onnx", "m.onnx"}),
                 bytes + ": is not a model file; priornet calibrate RUN makes one");
}

TEST(Mistakes, AFullDiskIsNamedAndLeavesNoFile) {
  const ModelFiles files;
  if (fs::exists("/dev/full"))
    expect_failure(run_tool({"predict", files.model, files.rows, "--format", "csv", "--out", "/dev/full", "--quiet"}),
                   "/dev/full: cannot be written: No space left on device");
  // No file may grow beyond one block of 512 bytes: the rows take more.
  const auto out = (files / "out.csv").string();
  const auto cut = run_process({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", PRIORNET_TOOL_PATH,
                                "predict", files.model, files.rows, "--out", out, "--quiet"});
  expect_failure(cut, out + ": cannot be written: File too large");
  int64_t left = 0;
  for (const auto& entry : fs::directory_iterator(files / "")) left += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(left, 2) << "the model and its rows";
}

TEST(Mistakes, PicturesAreWrittenOnlyWhereAsked) {
  const InputFiles files;
  files.npy("i.npy", torch::zeros({40, 8, 8}, torch::kUInt8));
  const auto shown = run_tool_in(files / "", "data show ./i.npy");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(shown.out.find("Contact sheet"), std::string::npos) << shown.out;
  const auto made = run_tool_in(files / "", "data synthesise ./i.npy --kind uniform-noise --count 5 --out m.npy");
  EXPECT_EQ(made.status, 0) << made.err;
  int64_t left = 0;
  for (const auto& entry : fs::directory_iterator(files / "")) left += entry.exists() ? 1 : 0;
  EXPECT_EQ(left, 2) << "i.npy, m.npy";
  expect_misuse(run_tool_in(files / "", "data synthesise ./i.npy"),
                "give --out FILE.npy for the images, or --sheet FILE.png for a picture of some of them (see priornet "
                "data synthesise --help)");
}

}  // namespace
}  // namespace priornet
