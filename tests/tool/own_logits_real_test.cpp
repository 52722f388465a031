#include <priornet/deploy/predictor.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/random.h>
#include <testing/real_data.h>
#include <testing/tool.h>
#include "learning/data/npy.h"

#include <nlohmann/json.hpp>
#include <sstream>

// docs/deploy.md, "Your own logits", with MNIST: minutes.

namespace priornet {
namespace {

std::vector<nlohmann::json> predicted(std::vector<std::string> words) {
  words.insert(words.begin(), "predict");
  // The same batch size as in calibrate: rounding in convolutions depends on the shape of a batch.
  words.insert(words.end(), {"--format", "jsonl", "--batch", "1000"});
  const auto said = run_tool(words);
  EXPECT_EQ(said.status, 0) << said.err;
  std::vector<nlohmann::json> rows;
  std::istringstream stream(said.out);
  for (std::string line; std::getline(stream, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

// The logits of a run are exported, calibrated and judged without the run. They get the verdicts of the run's own model
// file, and new inputs are rejected as often as printed. The published test images are split at random, because the
// first and the second half come from different writers.
TEST(OwnLogitsReal, GetTheVerdictsOfTheRunTheyComeFrom) {
  REAL_DATA(mnist, "mnist");
  LoadOptions load;
  load.root = mnist.parent_path();
  const InputFiles files;
  const auto at = [&](const char* name) { return (files / name).string(); };
  const auto train = load_set("mnist:train,subset=6000", load);
  write_npz(files / "train.npz", {{"images", train.inputs}, {"labels", train.labels}});
  const auto trained = run_tool({"train", "--data", at("train.npz"), "--out", at("run"), "--set", "training.epochs=2"});
  ASSERT_EQ(trained.status, 0) << trained.err;

  const auto test = load_set("mnist:test", load);
  auto generator = make_generator(1);
  const auto order = torch::randperm(test.size(), generator, torch::kInt64);
  const auto held_out = select(test, order.narrow(0, 0, 5000));
  const auto fresh = select(test, order.narrow(0, 5000, 5000));
  write_npz(files / "held-out.npz", {{"images", held_out.inputs}, {"labels", held_out.labels}});

  Predictor predictor(model_of_run(files / "run"));
  const auto logits = [&](const char* name, const torch::Tensor& images) {
    std::vector<torch::Tensor> parts;
    for (const auto& batch : images.split(1000)) parts.push_back(predictor.predict(batch).logits);
    return files.npy(name, torch::cat(parts));
  };
  const auto said = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "calibrate");
    words.push_back("--json");
    const auto outcome = run_tool(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  said({at("run"), "--data", at("held-out.npz"), "--no-detectors", "--out", at("run.priornet")});
  const auto own = said({"--logits", logits("val.npy", held_out.inputs), "--labels",
                         files.npy("y.npy", held_out.labels), "--kind", "dirichlet", "--out", at("own.priornet")});

  const auto wanted = predicted({at("run.priornet"), files.npy("images.npy", fresh.inputs)});
  const auto found = predicted({at("own.priornet"), "--logits", logits("new.npy", fresh.inputs)});
  ASSERT_EQ(found.size(), 5000u);
  ASSERT_EQ(wanted.size(), 5000u);
  double rejected = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    for (const auto* key : {"prediction", "verdict", "verdict_by", "p_value"})
      EXPECT_EQ(found[i][key], wanted[i][key]) << key << " of row " << i;
    rejected += found[i]["verdict"] != "accept" ? 1 : 0;
  }
  RecordProperty("rejected", std::to_string(rejected / 5000));
  EXPECT_GE(rejected / 5000, own["false_alarm_range"][0].get<double>());
  EXPECT_LE(rejected / 5000, own["false_alarm_range"][1].get<double>());
}

}  // namespace
}  // namespace priornet
