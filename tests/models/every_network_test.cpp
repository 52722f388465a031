#include <priornet/deploy/model_export.h>
#include <priornet/deploy/predictor.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/uncertainty/losses.h>
#include <testing/documents.h>
#include <testing/small_networks.h>
#include <testing/small_runs.h>
#include <testing/tensors.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>

// What every network of the table must be able to do: a new network is tested here too.

namespace priornet {
namespace {

/// Small images; for networks that take rows of numbers, the same as rows.
Dataset small_set(int64_t count, bool images) {
  auto set = small_images(count, 1);
  if (!images) set.inputs = set.inputs.flatten(1).narrow(1, 0, 24).to(torch::kFloat32) / 50;
  return set;
}

class EveryNetwork : public testing::TestWithParam<std::string> {
 protected:
  const ModelOptions options_ = small_network(GetParam());
  const bool images_ = takes_images(options_);

  /// One step of a Prior Network on 32 inputs, into a run's folder.
  void train_once(const std::filesystem::path& folder) const {
    auto config = small_config();
    config.model = options_;
    config.model.prior = 1.0;  // so that the prior is stored and read as well
    config.augmentation = {};
    config.epochs = 1;
    NoProgress progress;
    train(config, {small_set(32, images_), small_set(8, images_), {}}, RunFolder(folder, RunFolder::Start::kNew), {},
          progress);
  }
};

TEST_P(EveryNetwork, LearnsWithAllItsWeights) {
  auto options = options_;
  const auto set = small_set(2, images_);
  options.input = set.inputs.sizes().slice(1).vec();
  options.classes = 3;
  const auto network = make_model(options, make_generator(1));
  const auto inputs = images_ ? set.inputs.to(torch::kFloat32) / 127.5 - 1 : set.inputs;
  prior_network_loss(network->forward(inputs), set.labels).total.backward();
  for (const auto& item : network->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
  }
}

// alpha = prior + e^x, where x is the output of the layers: alpha is never below the prior, and far above the prior it
// is e^x.
TEST_P(EveryNetwork, CountsEvidenceAboveAPrior) {
  auto options = options_;
  const auto set = small_set(4, images_);
  options.input = set.inputs.sizes().slice(1).vec();
  options.classes = 3;
  const auto inputs = images_ ? set.inputs.to(torch::kFloat32) / 127.5 - 1 : set.inputs;
  const auto plain = make_model(options, make_generator(1));
  options.prior = 0.25;
  const auto counting = make_model(options, make_generator(1));
  for (const auto& network : {plain, counting}) network->eval();
  const auto alpha = counting->forward(inputs).exp();
  EXPECT_TRUE(near(alpha, plain->forward(inputs).exp() + 0.25, 1e-5));
  EXPECT_TRUE(near(counting->from_features(plain->features(inputs)).exp(), alpha, 1e-5));
}

TEST_P(EveryNetwork, SaysTheSameTrainedStoredAndExported) {
  const TemporaryFolder folder;
  train_once(folder / "run");
  const auto inputs = small_set(5, images_).inputs;
  const auto model = model_of_run(folder / "run", torch::kCPU);
  EXPECT_EQ(model.run.config.model.name, GetParam());
  const auto wanted = Predictor(model).predict(inputs);
  ASSERT_GT(wanted.scores.size(), 5u);

  write_model_file(folder / "model.priornet", model);
  const auto stored = Predictor(read_model_file(folder / "model.priornet")).predict(inputs);
  EXPECT_TRUE(stored.logits.equal(wanted.logits));

  const auto signature = export_torchscript(model, folder / "model.pt");
  auto module = torch::jit::load((folder / "model.pt").string());
  const torch::NoGradGuard no_gradient;
  const auto answers = module.forward({inputs}).toGenericDict();
  EXPECT_EQ(answers.size(), signature.outputs.size());
  for (const auto& [name, values] : wanted.scores)
    EXPECT_TRUE(answers.at(name).toTensor().allclose(values, 1e-4, 1e-6)) << name;

  const auto onnx = export_onnx(model, folder / "model.onnx");
  EXPECT_EQ(onnx.outputs.size(), signature.outputs.size());
  EXPECT_GT(std::filesystem::file_size(folder / "model.onnx"), 1000u);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryNetwork, testing::ValuesIn(model_names()), [](const auto& test) {
  auto name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ModelTable, IsWhatTheManualSays) {
  const auto rows = table_rows("docs/training.md", "| network |");
  EXPECT_EQ(rows.size(), model_table().size());
  for (const auto& [name, summary, options, plan, make] : model_table()) {
    const auto row = row_with(rows, code(name));
    EXPECT_EQ(row, "| " + code(name) + " | " + summary + " |");
  }
}

}  // namespace
}  // namespace priornet
