#include "tool/experiments/relatives.h"

#include <fmt/format.h>

#include <string>

namespace priornet {
namespace {

struct Relative {
  const char* name;
  const char* recipe;                 ///< cifar10-modern-RECIPE, and the folder of its run
  std::vector<std::string> of_quick;  ///< what turns the plain network of profile quick into this one
};

const std::vector<Relative>& relatives() {
  static const std::vector<Relative> kRelatives = {
      {"EDL", "edl", {"method.name=evidential", "method.divergence_weight=0.1", "model.prior=1"}},
      {"R-EDL",
       "redl",
       {"method.name=evidential", "method.divergence_weight=0.1", "method.variance_weight=0", "model.prior=0.1"}},
      {"Posterior",
       "posterior",
       {"method.name=posterior", "model.prior=1", "model.density=6", "model.density_rows=1000"}},
  };
  return kRelatives;
}

ImageRunOptions beside_relatives(const ExperimentOptions& options) {
  return with_runs_beside(options, {"cifar10", "cifar10-modern", "openood", "reasons"});
}

}  // namespace

ImageExperiment relatives_experiment(const ImagePlanOptions& options) {
  refuse_paper_profile(options, "relatives");
  auto experiment = cifar10_experiment(options);
  experiment.name = "relatives";
  experiment.title = titled("Relatives of Prior Networks on CIFAR-10", options.profile);
  experiment.lead =
      "Other networks that answer with a Dirichlet, but learn from labels alone: evidential learning (EDL, Sensoy et "
      "al., 2018), its relaxed form (R-EDL, Chen et al., 2024) and a posterior network (Charpentier et al., 2020), "
      "beside a plain network, outlier exposure and a Prior Network, all the same network on the same images.";
  experiment.published = {};
  experiment.remarks = begin_experiment(options).remarks;
  experiment.comparisons.clear();
  std::erase_if(experiment.models, [](const PlannedModel& model) {
    return model.name != "DNN" && model.name != "OE" && model.name != "DPN";
  });
  const bool is_quick = options.profile == Profile::kQuick;
  for (const auto& relative : relatives()) {
    auto planned = is_quick ? quick_recipe("cifar10", "dnn")
                            : PlannedRecipe{fmt::format("cifar10-modern-{}", relative.recipe), {}};
    if (is_quick) planned.changes.insert(planned.changes.end(), relative.of_quick.begin(), relative.of_quick.end());
    auto config = planned_config(planned, options);
    config.members = 1;
    experiment.models.push_back({relative.name, run_of_seed(options.seed, relative.recipe), config});
    experiment.comparisons.push_back({"DPN", "differential_entropy", relative.name, "differential_entropy"});
  }
  experiment.remarks.emplace_back(
      "EDL, R-EDL and Posterior saw no images of other things in training; OE and DPN did. They answer another "
      "question: "
      "what can be had without such images. CIFAR-100's training set is what OE and DPN saw: to them its row is not "
      "unseen.");
  return experiment;
}

ExperimentSummary reproduce_relatives(const ExperimentOptions& options, Progress& progress) {
  relatives_experiment({options.profile, options.seed, options.overrides});  // an experiment that cannot be planned
                                                                             // leaves no folder
  return reproduce_images(plan_by(relatives_experiment, options), options, beside_relatives(options), progress);
}

std::vector<TrainingCommand> relatives_networks(const ExperimentOptions& options) {
  return plan_images(chosen_plans(plan_by(relatives_experiment, options), options), options, beside_relatives(options));
}

}  // namespace priornet
