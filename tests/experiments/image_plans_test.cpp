#include "tool/experiments/image_plans.h"
#include <priornet/learning/catalogue.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/training.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace priornet {
namespace {

const PlannedModel& model_named(const ImageExperiment& experiment, const std::string& name) {
  for (const auto& model : experiment.models)
    if (model.name == name) return model;
  ADD_FAILURE() << "no model " << name;
  return experiment.models.front();
}

std::vector<std::string> names_of_models(const ImageExperiment& experiment) {
  std::vector<std::string> names;
  for (const auto& model : experiment.models) names.push_back(model.name);
  return names;
}

using PlanColour = ImageExperiment (*)(const ImagePlanOptions&);
constexpr PlanColour kBoth[] = {svhn_experiment, cifar10_experiment};

// The paper's tables "Architecture Sizes" and "Training Configuration", with the values that we chose otherwise on
// held-out images (docs/results.md).
TEST(Cifar10Experiment, TrainsAsThePaperSays) {
  const auto experiment = cifar10_experiment({Profile::kPaper, 7, {}});
  EXPECT_EQ(names_of_models(experiment), (std::vector<std::string>{"DNN", "MCDP", "DPN"}));
  EXPECT_EQ(model_named(experiment, "MCDP").run, model_named(experiment, "DNN").run);
  EXPECT_EQ(model_named(experiment, "MCDP").dropout_samples, 20);
  const auto& dnn = model_named(experiment, "DNN").config;
  EXPECT_EQ(dnn.model.name, "vgg16");
  EXPECT_EQ(dnn.model.keep_dense, 0.5);
  EXPECT_EQ(dnn.model.keep_convolution, 0.9);
  EXPECT_EQ(dnn.epochs, 70);  // the paper: 45; its cycle has 30
  EXPECT_EQ(dnn.schedule.settings.at("cycle"), 47);
  EXPECT_EQ(dnn.schedule.rate, 1e-3);
  EXPECT_EQ(dnn.seed, 7);
  const auto& dpn = model_named(experiment, "DPN").config;
  EXPECT_EQ(dpn.model.keep_dense, 0.7);
  EXPECT_EQ(dpn.model.keep_convolution, 1.0);
  EXPECT_EQ(dpn.epochs, 100);
  EXPECT_EQ(dpn.schedule.settings.at("cycle"), 70);
  EXPECT_EQ(dpn.schedule.rate, 7.5e-4);
  EXPECT_EQ(dpn.method.settings.at("alpha0"), 100);
  EXPECT_EQ(dpn.method.settings.at("cross_entropy_weight"), 1.0);
  EXPECT_EQ(dpn.method.settings.at("uniform_weight"), 0.5);
  EXPECT_EQ(dpn.outside.source, "cifar100:train");
  EXPECT_TRUE(dpn.augmentation.flip);
  EXPECT_EQ(dpn.augmentation.rotation_degrees, 15);
}

TEST(SvhnExperiment, TrainsAsThePaperSays) {
  const auto experiment = svhn_experiment({Profile::kPaper, 1, {}});
  const auto& dpn = model_named(experiment, "DPN").config;
  EXPECT_EQ(dpn.model.keep_dense, 0.5);
  EXPECT_EQ(dpn.model.keep_convolution, 0.8);
  EXPECT_EQ(dpn.schedule.rate, 7.5e-4);
  EXPECT_EQ(dpn.epochs, 10);  // the paper: 40; its cycle has 30
  EXPECT_EQ(dpn.schedule.settings.at("cycle"), 7);
  EXPECT_EQ(dpn.outside.source, "cifar10:train");
  for (const auto& model : experiment.models) {
    EXPECT_FALSE(model.config.augmentation.flip);
    EXPECT_EQ(model.config.augmentation.shift, 0);
    EXPECT_EQ(model.config.augmentation.rotation_degrees, 0);
  }
}

// Each published row has exactly one row of ours, with the paper's resampling. Every set is in the catalogue, or its
// entry says how to put its files in place by hand.
TEST(ColourExperiments, HaveARowForEverySetOfThePaper) {
  for (const auto plan : kBoth) {
    const auto experiment = plan({Profile::kPaper, 1, {}});
    for (const auto& row : experiment.published) {
      if (row.outside.empty()) continue;
      EXPECT_EQ(std::count_if(experiment.outside.begin(), experiment.outside.end(),
                              [&](const auto& set) { return set.published == row.outside; }),
                1)
          << row.outside;
    }
    for (const auto& set : experiment.outside) {
      EXPECT_TRUE(in_catalogue(parse_set_name(set.set).set) || !set.by_hand.empty()) << set.set;
      if (set.published == "TinyImageNet") {
        EXPECT_EQ(set.set, "tinyimagenet:test,size=32,antialias=off,grid=corners");
      }
    }
  }
}

TEST(ColourExperiments, CountTheMutualInformationOfThePaperApart) {
  for (const auto plan : kBoth) EXPECT_TRUE(plan({Profile::kPaper, 1, {}}).paper_gives_entropy_as_information);
  EXPECT_FALSE(mnist_experiment({Profile::kPaper, 1, {}}).paper_gives_entropy_as_information);
}

TEST(Cifar10Experiment, AlsoLooksAtTinyImageNetWithoutItsOwnClasses) {
  const auto experiment = cifar10_experiment({Profile::kPaper, 1, {}});
  const auto found = std::find_if(experiment.outside.begin(), experiment.outside.end(), [](const auto& set) {
    return set.set == "tinyimagenet:val,without=cifar10,size=32" && set.published.empty();
  });
  EXPECT_NE(found, experiment.outside.end());
}

TEST(ColourExperiments, EvaluateLessQuickly) {
  const auto experiment = svhn_experiment({Profile::kQuick, 3, {}});
  EXPECT_EQ(experiment.inside, "svhn:test,subset=5000,seed=3");
  EXPECT_EQ(experiment.models[1].dropout_samples, 10);
}

using Names = std::vector<std::string>;

TEST(ColourExperiments, CompareModernNetworksOfOneRecipe) {
  for (const auto plan : kBoth) {
    const auto experiment = plan({Profile::kModern, 4, {}});
    const auto& exposure = model_named(experiment, "OE").config;
    const auto& dpn = model_named(experiment, "DPN").config;
    EXPECT_EQ(exposure.method.name, "outlier-exposure");
    EXPECT_EQ(exposure.method.settings.at("outside_weight"), 0.5);
    EXPECT_EQ(dpn.method.name, "dpn-reverse");
    EXPECT_EQ(dpn.method.settings.at("cross_entropy_weight"), 1.0);
    EXPECT_LT(dpn.method.settings.at("divergence_weight"), 0.5) << "it is large beside the cross-entropy";
    // Except for the method the configurations are the same.
    auto alike = exposure;
    alike.method = dpn.method;
    EXPECT_EQ(to_toml(alike), to_toml(dpn));
  }
}

TEST(ColourExperiments, CompareOneWithOneAndFiveWithFive) {
  const auto pairs = [](const ImageExperiment& experiment) {
    Names names;
    for (const auto& plan : experiment.comparisons) {
      EXPECT_EQ(model_named(experiment, plan.model).config.members,
                model_named(experiment, plan.against).config.members);
      EXPECT_EQ(plan.measure, "differential_entropy");
      EXPECT_EQ(plan.against_measure, "entropy");
      names.push_back(plan.model + " / " + plan.against);
    }
    return names;
  };
  const auto cifar10 = cifar10_experiment({Profile::kModern, 4, {}});
  EXPECT_EQ(names_of_models(cifar10),
            (Names{"DNN", "OE", "DPN", "DPN distilled", "DNN ensemble", "OE ensemble", "DPN ensemble"}));
  EXPECT_EQ(pairs(cifar10), (Names{"DPN / OE", "DPN distilled / OE", "DPN ensemble / OE ensemble"}));
  const auto svhn = svhn_experiment({Profile::kModern, 4, {}});
  EXPECT_EQ(names_of_models(svhn), (Names{"DNN", "OE", "DPN", "DNN ensemble", "OE ensemble", "DPN ensemble"}));
  EXPECT_EQ(pairs(svhn), (Names{"DPN / OE", "DPN ensemble / OE ensemble"}));
}

// The members of two seeds differ, and a single network is the first member of the ensemble of its seed.
TEST(ColourExperiments, TakeSingleNetworksFromTheEnsembles) {
  const auto experiment = cifar10_experiment({Profile::kModern, 4, {}});
  const auto other = cifar10_experiment({Profile::kModern, 5, {}});
  for (const std::string name : {"DNN", "OE", "DPN"}) {
    const auto& ensemble = model_named(experiment, name + " ensemble");
    EXPECT_EQ(ensemble.config.members, 5);
    const auto& single = model_named(experiment, name);
    EXPECT_EQ(to_toml(single.config), to_toml(member_config(ensemble.config, 1)));
    EXPECT_EQ(single.run, member_folder(ensemble.run, 1).generic_string());
    EXPECT_NE(single.config.seed, model_named(other, name).config.seed);
  }
}

// All seeds of one reproduction share the ensembles: the networks of the seeds are the members, and the first seed
// evaluates the whole ensemble.
TEST(ColourExperiments, ShareEnsemblesBetweenSeeds) {
  const auto first = cifar10_experiment({Profile::kModern, 4, {}});
  const auto third = cifar10_experiment({Profile::kModern, 6, {}, 2});
  EXPECT_EQ(names_of_models(third), (Names{"DNN", "OE", "DPN", "DPN distilled"}));
  EXPECT_EQ(third.comparisons.size(), 2u);
  for (const std::string name : {"DNN", "OE", "DPN"}) {
    const auto& ensemble = model_named(first, name + " ensemble");
    EXPECT_EQ(to_toml(model_named(third, name).config), to_toml(member_config(ensemble.config, 3)));
    EXPECT_EQ(model_named(third, name).run, member_folder(ensemble.run, 3).generic_string());
  }
}

TEST(ColourExperiments, DistilTheEnsembleOfTheFirstSeed) {
  const auto first = cifar10_experiment({Profile::kModern, 4, {}});
  const auto third = cifar10_experiment({Profile::kModern, 6, {}, 2});
  for (const auto* experiment : {&first, &third}) {
    const auto& student = model_named(*experiment, "DPN distilled");
    ASSERT_TRUE(student.teacher);
    EXPECT_EQ(student.config.teacher, "seed-4/dpn");
    EXPECT_EQ(student.teacher->run, "seed-4/dpn");
    EXPECT_EQ(to_toml(student.teacher->config), to_toml(model_named(first, "DPN ensemble").config));
    EXPECT_EQ(student.config.members, 1);
  }
  EXPECT_EQ(model_named(third, "DPN distilled").run, "seed-6/dpn-distilled");
  EXPECT_EQ(model_named(third, "DPN distilled").config.seed, 6);
}

TEST(ColourExperiments, HaveAsManyMembersAsIsSaidByHand) {
  const auto three = cifar10_experiment({Profile::kModern, 1, {"method.members=3"}});
  for (const auto* name : {"DNN ensemble", "OE ensemble", "DPN ensemble"})
    EXPECT_EQ(model_named(three, name).config.members, 3);
  EXPECT_EQ(model_named(three, "DNN").config.members, 1);
  EXPECT_EQ(model_named(three, "DPN distilled").config.members, 1);
  const auto one = cifar10_experiment({Profile::kModern, 1, {"method.members=1"}});
  EXPECT_EQ(names_of_models(one), (Names{"DNN", "OE", "DPN"})) << "one network has nothing to tell another";
}

}  // namespace
}  // namespace priornet
