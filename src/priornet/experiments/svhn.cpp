#include <priornet/experiments/colour_plan.h>
#include <priornet/experiments/svhn.h>

namespace priornet {

ImageExperiment svhn_experiment(const ImagePlanOptions& options) {
  auto experiment = begin_experiment(options);
  experiment.name = "svhn";
  experiment.title = "House numbers, and what is none";
  experiment.lead =
      "The SVHN experiments of “Predictive Uncertainty Estimation via Prior Networks” (Malinin and Gales, 2018, "
      "appendix B.2), reproduced by priornet: which uncertainty finds misread house numbers, and which finds "
      "photographs of something else?";
  experiment.inside = evaluated("svhn:test", 26'032, options);
  experiment.inside_title = "SVHN test";
  experiment.published = published_svhn();
  experiment.outside = {{"CIFAR-10", evaluated("cifar10:test", 10'000, options), "CIFAR-10"},
                        {"CIFAR-100", evaluated("cifar100:test", 10'000, options), "CIFAR-100"}};
  for (auto& set : photograph_sets(options)) experiment.outside.push_back(std::move(set));
  add_colour_models(experiment, "svhn", options);
  add_colour_remarks(experiment, options);
  experiment.remarks.emplace_back("The DPN is trained against CIFAR-10's training set: that row is not unseen data.");
  return experiment;
}

ExperimentSummary reproduce_svhn(const ExperimentOptions& options, Progress& progress) {
  return reproduce_images(plan_by(svhn_experiment, options), options, {}, progress);
}

}  // namespace priornet
