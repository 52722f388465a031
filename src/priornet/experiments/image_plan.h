#pragma once

#include <priornet/experiments/experiment.h>
#include <priornet/experiments/image_experiment.h>
#include <priornet/experiments/image_reproduction.h>

#include <optional>
#include <string>
#include <vector>

// What the experiments on images share: how their models come from configurations, and what the profiles change.

namespace priornet {

/// What makes an experiment of one seed.
struct ImagePlanOptions {
  Profile profile = Profile::kPaper;
  uint64_t seed = 1;
  std::vector<std::string> overrides;  ///< of every configuration, as read_config takes them
  int64_t seeds_before = 0;            ///< of the same reproduction
};

/// How much a profile evaluates.
struct Extent {
  int64_t inputs = 0;                 ///< of a set at most; 0: all
  int64_t dropout_samples = 0;        ///< of MCDP
  std::optional<int64_t> replicates;  ///< of the bootstrap
};
Extent extent_of(Profile profile);

/// An experiment with what options and profile settle for all of them; the rest is to be filled in.
ImageExperiment begin_experiment(const ImagePlanOptions& options);

/// A configuration of configs/, and what a profile changes of it.
struct PlannedRecipe {
  std::string name;
  std::vector<std::string> changes;
};

/// Where a network of a seed is left below runs/.
std::string run_of_seed(uint64_t seed, const std::string& name);

/// The recipe, changed by the profile, the seed, and then by hand.
TrainConfig planned_config(const PlannedRecipe& recipe, const ImagePlanOptions& options);

/// The models of the paper.
struct PaperRecipes {
  PlannedRecipe dnn;
  PlannedRecipe dpn;
  std::string suffix;  ///< of the folders of their runs
};

/// Adds DNN, MCDP (the same network, asked with dropout at work) and DPN.
void add_paper_models(ImageExperiment& experiment, const PaperRecipes& recipes, const ImagePlanOptions& options);

/// Those of profile modern.
struct ModernRecipes {
  PlannedRecipe dnn;
  PlannedRecipe outlier_exposure;
  PlannedRecipe dpn;
};

/// Adds DNN, OE and DPN. The DPNs of the seeds are the members of one ensemble, as its configuration describes it: with
/// the first seed it is added as "DPN ensemble" where it has several, and so costs no more than the members that no
/// seed needs. DPN and ensemble are compared with OE, differential entropy with entropy.
void add_modern_models(ImageExperiment& experiment, const ModernRecipes& recipes, const ImagePlanOptions& options);

/// The set, or as many of its `size` rows as the profile evaluates, drawn by seed.
std::string evaluated(const std::string& set, int64_t size, const ImagePlanOptions& options);

/// The plan of every seed that the experiment is run with.
PlanOfSeed plan_by(ImageExperiment (*experiment)(const ImagePlanOptions&), const ExperimentOptions& options);

}  // namespace priornet
