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

std::string run_of_seed(uint64_t seed, const std::string& name) { return fmt::format("seed-{}/{}", seed, name); }

TrainConfig planned_config(const PlannedRecipe& planned, const ImagePlanOptions& options) {
  auto overrides = planned.changes;
  overrides.push_back(fmt::format("training.seed={}", options.seed));
  overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
  return recipe(planned.name, overrides);
}

void add_paper_models(ImageExperiment& experiment, const PaperRecipes& recipes, const ImagePlanOptions& options) {
  const auto dnn = planned_config(recipes.dnn, options);
  const auto dpn = planned_config(recipes.dpn, options);
  const auto dnn_run = run_of_seed(options.seed, "dnn" + recipes.suffix);
  experiment.models.push_back({"DNN", dnn_run, dnn, 0});
  experiment.models.push_back({"MCDP", dnn_run, dnn, extent_of(options.profile).dropout_samples});
  experiment.models.push_back({"DPN", run_of_seed(options.seed, "dpn" + recipes.suffix), dpn, 0});
}

void add_modern_models(ImageExperiment& experiment, const ModernRecipes& recipes, const ImagePlanOptions& options) {
  // What is set by hand is set of all of them, but only the DPN is an ensemble.
  const auto alone = [&](const PlannedRecipe& planned) {
    auto config = planned_config(planned, options);
    config.members = 1;
    return config;
  };
  auto of_first_seed = options;
  of_first_seed.seed -= static_cast<uint64_t>(options.seeds_before);
  const auto ensemble = planned_config(recipes.dpn, of_first_seed);
  const auto ensemble_run = run_of_seed(of_first_seed.seed, "dpn");
  const auto member = options.seeds_before + 1;
  experiment.models.push_back({"DNN", run_of_seed(options.seed, "dnn"), alone(recipes.dnn), 0});
  experiment.models.push_back({"OE", run_of_seed(options.seed, "oe"), alone(recipes.outlier_exposure), 0});
  experiment.models.push_back(
      {"DPN", member_folder(ensemble_run, member).generic_string(), member_config(ensemble, member), 0});
  experiment.comparisons.push_back({"DPN", "differential_entropy", "OE", "entropy"});
  if (ensemble.members == 1 || options.seeds_before > 0) return;
  experiment.models.push_back({"DPN ensemble", ensemble_run, ensemble, 0});
  experiment.comparisons.push_back({"DPN ensemble", "differential_entropy", "OE", "entropy"});
}

std::string evaluated(const std::string& set, int64_t size, const ImagePlanOptions& options) {
  const auto most = extent_of(options.profile).inputs;
  return most == 0 || size <= most ? set : fmt::format("{},subset={},seed={}", set, most, options.seed);
}

PlanOfSeed plan_by(ImageExperiment (*experiment)(const ImagePlanOptions&), const ExperimentOptions& options) {
  return [=](uint64_t seed) {
    return experiment({options.profile, seed, options.overrides, static_cast<int64_t>(seed - options.seed)});
  };
}

}  // namespace priornet
