#include <fmt/format.h>
#include <priornet/experiments/mnist.h>

namespace priornet {
namespace {

/// What the profiles change of configs/mnist*.toml, all of it. `quick` was chosen by validation error alone.
PaperRecipes mnist_recipes(Profile profile, const char* family, const char* suffix) {
  PaperRecipes recipes{{fmt::format("{}-dnn", family), {}}, {fmt::format("{}-dpn", family), {}}, suffix};
  switch (profile) {
    case Profile::kPaper:
      break;
    case Profile::kModern:
      // The reverse divergence grows with alpha0: at 100 the target is 91 for the label and 1 for every other class.
      recipes.dpn.changes = {"method.name=dpn-reverse", "method.alpha0=100", "outside.scale_each_sample=true"};
      break;
    case Profile::kQuick:
      const std::vector<std::string> small = {"model.blocks=[[8, 8], [16, 16]]", "model.keep_convolution=1.0",
                                              "training.schedule=cosine", "training.warm_up=0.1",
                                              "training.last_rate=1e-5"};
      recipes.dnn.changes = recipes.dpn.changes = small;
      for (const auto* change : {"training.epochs=3", "training.rate=3e-3"}) recipes.dnn.changes.emplace_back(change);
      for (const auto* change : {"training.epochs=4", "training.rate=4e-3"}) recipes.dpn.changes.emplace_back(change);
      break;
  }
  return recipes;
}

ImageExperiment begin_mnist(const ImagePlanOptions& options) {
  auto experiment = begin_experiment(options);
  const auto extent = extent_of(options.profile);
  experiment.inside = evaluated("mnist:valid+test", 15'000, options);
  experiment.inside_title = "MNIST valid+test";
  experiment.published = published_mnist();
  const auto omniglot =
      fmt::format("omniglot,subset={},seed={}", extent.inputs == 0 ? 15'000 : extent.inputs, options.seed);
  experiment.outside = {{"OMNIGLOT", omniglot + ",size=28,resample=nearest", "OMNIGLOT"},
                        {"OMNIGLOT, inverted", omniglot + ",invert", ""}};
  experiment.remarks.emplace_back(
      "OMNIGLOT is black on white, MNIST white on black: polarity alone tells them apart. Inverted is the honest test. "
      "The authors' code takes the nearest pixel for 28x28, so does the first row; inverted, it is antialiased as "
      "MNIST is.");
  if (options.profile == Profile::kQuick)
    experiment.remarks.push_back(fmt::format(
        "Profile quick: a VGG-6 of 8 and 16 channels trained for 3 and 4 epochs, {} inputs a set, {} dropout "
        "samples. It shows the effects, not the paper's numbers.",
        extent.inputs, extent.dropout_samples));
  if (options.profile == Profile::kModern)
    experiment.remarks.emplace_back("Profile modern: the DPN is trained with the reverse KL divergence.");
  return experiment;
}

}  // namespace

ImageExperiment mnist_experiment(const ImagePlanOptions& options) {
  auto experiment = begin_mnist(options);
  experiment.name = "mnist";
  experiment.title = "Digits, and what is none";
  experiment.lead =
      "The MNIST experiments of “Predictive Uncertainty Estimation via Prior Networks” (Malinin and Gales, 2018, "
      "section 5.2 and appendix B.1), reproduced by priornet: which uncertainty finds misclassified digits, and which "
      "finds images that are no digits at all?";
  experiment.outside.push_back({"SEMEION", "semeion", "SEMEION"});
  experiment.outside.push_back({"SVHN", evaluated("svhn:test", 26'032, options), "SVHN"});
  experiment.outside.push_back({"CIFAR-10", evaluated("cifar10:test", 10'000, options), "CIFAR-10"});
  experiment.outside.push_back({"Fashion-MNIST", evaluated("fashion-mnist:test", 10'000, options), ""});
  add_paper_models(experiment, mnist_recipes(options.profile, "mnist", ""), options);
  return experiment;
}

ImageExperiment mnist_noise_experiment(const ImagePlanOptions& options) {
  auto experiment = begin_mnist(options);
  experiment.name = "mnist-noise";
  experiment.title = "Digits in noise";
  experiment.lead =
      "The noise experiment of “Predictive Uncertainty Estimation via Prior Networks” (Malinin and Gales, 2018, "
      "section 5.2), reproduced by priornet: Gaussian noise on every input, in training and evaluation, makes all "
      "digits ambiguous. Which uncertainty still finds what is no digit?";
  experiment.is_noise_table = true;
  add_paper_models(experiment, mnist_recipes(options.profile, "mnist", ""), options);
  add_paper_models(experiment, mnist_recipes(options.profile, "mnist-noise", "-noise"), options);
  experiment.remarks.emplace_back(
      "At sigma 3 the DNN has a gentler recipe than at 0 (configs/mnist-noise-dnn.toml), chosen by its validation "
      "loss: with the paper's keep probability of 0.5 it does not learn.");
  return experiment;
}

ExperimentSummary reproduce_mnist(const ExperimentOptions& options, Progress& progress) {
  return reproduce_images(plan_by(mnist_experiment, options), options, {}, progress);
}

ExperimentSummary reproduce_mnist_noise(const ExperimentOptions& options, Progress& progress) {
  ImageRunOptions run;
  run.other_runs = {options.out.parent_path() / "mnist" / "runs"};
  return reproduce_images(plan_by(mnist_noise_experiment, options), options, run, progress);
}

}  // namespace priornet
