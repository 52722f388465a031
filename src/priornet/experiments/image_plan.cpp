#include <fmt/format.h>
#include <priornet/experiments/image_plan.h>
#include <priornet/experiments/recipes.h>
#include <priornet/train/ensemble.h>

namespace priornet {

Extent extent_of(Profile profile) {
  return profile == Profile::kQuick ? Extent{5000, 10, 200} : Extent{0, 20, std::nullopt};
}

ImageExperiment begin_experiment(const ImagePlanOptions& options) {
  ImageExperiment experiment;
  experiment.seed = options.seed;
  experiment.bootstrap.replicates = extent_of(options.profile).replicates;
  if (!options.overrides.empty())
    experiment.remarks.emplace_back("Not as configured: settings were given by hand, see the command.");
  return experiment;
}

TrainConfig planned_config(const PlannedRecipe& planned, const ImagePlanOptions& options) {
  auto overrides = planned.changes;
  overrides.push_back(fmt::format("training.seed={}", options.seed));
  overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
  return recipe(planned.name, overrides);
}

void add_paper_models(ImageExperiment& experiment, const PaperRecipes& recipes, const ImagePlanOptions& options) {
  const auto dnn = planned_config(recipes.dnn, options);
  const auto dpn = planned_config(recipes.dpn, options);
  experiment.models.push_back({"DNN", "dnn" + recipes.suffix, dnn, 0});
  experiment.models.push_back({"MCDP", "dnn" + recipes.suffix, dnn, extent_of(options.profile).dropout_samples});
  experiment.models.push_back({"DPN", "dpn" + recipes.suffix, dpn, 0});
}

void add_modern_models(ImageExperiment& experiment, const ModernRecipes& recipes, const ImagePlanOptions& options) {
  // What is set by hand is set of all of them, but only the DPN is an ensemble.
  const auto alone = [&](const PlannedRecipe& planned) {
    auto config = planned_config(planned, options);
    config.members = 1;
    return config;
  };
  const auto dpn = planned_config(recipes.dpn, options);
  experiment.models.push_back({"DNN", "dnn", alone(recipes.dnn), 0});
  experiment.models.push_back({"OE", "oe", alone(recipes.outlier_exposure), 0});
  experiment.models.push_back({"DPN", member_folder("dpn", 1).generic_string(), member_config(dpn, 1), 0});
  experiment.comparisons.push_back({"DPN", "differential_entropy", "OE", "entropy"});
  if (dpn.members == 1) return;
  experiment.models.push_back({"DPN ensemble", "dpn", dpn, 0});
  experiment.comparisons.push_back({"DPN ensemble", "differential_entropy", "OE", "entropy"});
}

std::string evaluated(const std::string& set, int64_t size, const ImagePlanOptions& options) {
  const auto most = extent_of(options.profile).inputs;
  return most == 0 || size <= most ? set : fmt::format("{},subset={},seed={}", set, most, options.seed);
}

PlanOfSeed plan_by(ImageExperiment (*experiment)(const ImagePlanOptions&), const ExperimentOptions& options) {
  return [=](uint64_t seed) { return experiment({options.profile, seed, options.overrides}); };
}

}  // namespace priornet
