#include <priornet/experiments/cifar10.h>
#include <priornet/experiments/colour_plan.h>

namespace priornet {

ImageExperiment cifar10_experiment(const ImagePlanOptions& options) {
  auto experiment = begin_experiment(options);
  experiment.name = "cifar10";
  experiment.title = "Ten kinds of things, and others";
  experiment.lead =
      "The CIFAR-10 experiments of “Predictive Uncertainty Estimation via Prior Networks” (Malinin and Gales, 2018, "
      "section 5.2 and appendix B.3), reproduced by priornet: which uncertainty finds misclassified images, and which "
      "finds images of none of the ten classes?";
  experiment.inside = evaluated("cifar10:test", 10'000, options);
  experiment.inside_title = "CIFAR-10 test";
  experiment.published = published_cifar10();
  experiment.outside = {{"CIFAR-100", evaluated("cifar100:test", 10'000, options), "CIFAR-100"},
                        {"SVHN", evaluated("svhn:test", 26'032, options), "SVHN"}};
  for (auto& set : photograph_sets(options)) experiment.outside.push_back(std::move(set));
  // 22 of the 200 classes, 50 images each, are CIFAR-10's.
  const auto others = evaluated("tinyimagenet:val,without=cifar10", 8'900, options) + ",size=32";
  experiment.outside.insert(experiment.outside.begin() + 4,
                            {"TinyImageNet val without CIFAR-10's classes, antialiased", others, ""});
  add_colour_models(experiment, "cifar10", options);
  add_colour_remarks(experiment, options);
  experiment.remarks.emplace_back(
      "The DPN is trained against CIFAR-100's training set: that row is not unseen data. TinyImageNet holds 22 classes "
      "that are CIFAR-10's under other names; its labelled val split without them stands beside the paper's row.");
  return experiment;
}

ExperimentSummary reproduce_cifar10(const ExperimentOptions& options, Progress& progress) {
  return reproduce_images(plan_by(cifar10_experiment, options), options, {}, progress);
}

}  // namespace priornet
