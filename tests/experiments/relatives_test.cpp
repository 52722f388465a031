#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include "tool/experiments/image_plans.h"

namespace priornet {
namespace {

TEST(RelativesExperiment, HasTheSameNetworkOnTheSameImages) {
  const ImagePlanOptions options{Profile::kModern, 3, {}, 1};
  const auto experiment = relatives_experiment(options);
  std::vector<std::string> names;
  for (const auto& model : experiment.models) {
    names.push_back(model.name);
    EXPECT_EQ(model.config.members, 1) << model.name;
    EXPECT_EQ(model.config.model.name, "resnet18");
    EXPECT_EQ(model.config.epochs, experiment.models.front().config.epochs);
    EXPECT_EQ(model.config.train, "cifar10:train");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"DNN", "OE", "DPN", "EDL", "R-EDL", "Posterior"}));
  EXPECT_EQ(experiment.models[3].config.model.prior, 1.0);
  EXPECT_LT(experiment.models[4].config.model.prior, 1.0);
  EXPECT_EQ(experiment.models[4].config.method.settings.at("variance_weight"), 0.0);
  EXPECT_EQ(experiment.models[5].config.model.density, 6);
  EXPECT_EQ(experiment.comparisons.size(), 3u);
}

TEST(RelativesExperiment, TakesPriorNetworksFromCifar10) {
  const ImagePlanOptions options{Profile::kModern, 3, {}, 1};
  const auto experiment = relatives_experiment(options);
  const auto other = cifar10_experiment(options);
  for (size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(experiment.models[m].run, other.models[m].run);
    EXPECT_EQ(to_toml(experiment.models[m].config), to_toml(other.models[m].config));
  }
  EXPECT_EQ(experiment.kin_name, other.name);
  EXPECT_EQ(experiment.kin_title, other.title);
}

TEST(RelativesExperiment, IsQuickToo) {
  const auto experiment = relatives_experiment({Profile::kQuick, 1, {}});
  ASSERT_EQ(experiment.models.size(), 5u) << "DNN, DPN and three relatives";
  EXPECT_EQ(experiment.models[4].config.method.name, "posterior");
  EXPECT_EQ(experiment.models[4].config.model.blocks, experiment.models[0].config.model.blocks);
  EXPECT_THROWS(ConfigError, relatives_experiment({Profile::kPaper, 1, {}}),
                "relatives is not in the paper and has no profile paper: give --profile modern or quick");
}

}  // namespace
}  // namespace priornet
