#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <filesystem>

#include "tool/experiments/experiment.h"
#include "tool/experiments/image_plans.h"

namespace priornet {
namespace {

TEST(Recipes, AreTheFilesOfTheFolder) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PRIORNET_CONFIGS)) {
    const auto name = entry.path().stem().string();
    EXPECT_EQ(to_toml(recipe(name)), to_toml(read_config(entry.path()))) << name;
    ++files;
  }
  EXPECT_EQ(recipe_names().size(), files);
}

TEST(Recipes, RefuseAnUnknownName) {
  EXPECT_THROWS(ConfigError, recipe("mnist-cnn"), "there is no configs/mnist-cnn.toml");
  EXPECT_THROWS(ConfigError, recipe("mnist-dpn", {"training.epoch=1"}),
                "--set training.epoch=1: there is no key training.epoch; did you mean training.epochs?");
}

// The paper's table "Training Configuration", and what its authors' code adds.
TEST(MnistExperiment, TrainsAsThePaperSays) {
  const auto experiment = mnist_experiment({Profile::kPaper, 7, {}});
  ASSERT_EQ(experiment.models.size(), 3u);
  const auto& dnn = experiment.models[0].config;
  EXPECT_EQ(dnn.epochs, 30);
  EXPECT_EQ(dnn.model.keep_dense, 0.5);
  EXPECT_EQ(dnn.model.keep_convolution, 0.8);
  EXPECT_EQ(dnn.seed, 7);
  EXPECT_EQ(experiment.models[1].run, experiment.models[0].run) << "MCDP asks the DNN";
  EXPECT_EQ(experiment.models[1].dropout_samples, 20);
  const auto& dpn = experiment.models[2].config;
  EXPECT_EQ(dpn.epochs, 10);
  EXPECT_EQ(dpn.method.settings.at("alpha0"), 1000);
  EXPECT_EQ(dpn.outside.source, kFactorAnalysis);
  EXPECT_EQ(dpn.outside.settings.at("scale_low"), 0.01);
  EXPECT_EQ(experiment.inside, "mnist:valid+test");
  EXPECT_EQ(experiment.outside[0].set, "omniglot,subset=15000,seed=7,size=28,resample=nearest");
}

TEST(MnistExperiment, TakesSettingsByHand) {
  const auto experiment = mnist_experiment({Profile::kQuick, 1, {"outside.scale_low=1", "training.epochs=9"}});
  EXPECT_EQ(experiment.models[2].config.outside.settings.at("scale_low"), 1);
  EXPECT_EQ(experiment.models[2].config.epochs, 9);
}

TEST(MnistExperiment, IsModernByTheReverseDivergence) {
  EXPECT_EQ(mnist_experiment({Profile::kModern, 1, {}}).models[2].config.method.name, "dpn-reverse");
}

TEST(MnistNoiseExperiment, SharesThePlainRunsWithMnist) {
  const auto plain = mnist_experiment({Profile::kPaper, 1, {}});
  const auto noise = mnist_noise_experiment({Profile::kPaper, 1, {}});
  ASSERT_EQ(noise.models.size(), 6u);
  for (size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(to_toml(noise.models[m].config), to_toml(plain.models[m].config));
    EXPECT_EQ(noise.models[m].run, plain.models[m].run);
    EXPECT_EQ(noise.models[m + 3].config.noise, 3.0);
    EXPECT_NE(noise.models[m + 3].run, plain.models[m].run);
  }
}

}  // namespace
}  // namespace priornet
