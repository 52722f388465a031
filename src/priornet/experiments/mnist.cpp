#include <fmt/format.h>
#include <priornet/experiments/image_reproduction.h>
#include <priornet/experiments/mnist.h>
#include <priornet/experiments/recipes.h>

namespace priornet {
namespace {

using Overrides = std::vector<std::string>;

struct ProfileOverrides {
  Overrides dnn;
  Overrides dpn;
};

/// What the profiles change of configs/*.toml, all of it. `quick` was chosen by validation error alone.
ProfileOverrides profile_overrides(Profile profile) {
  switch (profile) {
    case Profile::kPaper:
      return {};
    case Profile::kModern: {
      // The reverse divergence grows with alpha0: at 100 the target is 91 for the label and 1 for every other class.
      const Overrides reverse = {"method.name=dpn-reverse", "method.alpha0=100", "outside.scale_each_sample=true"};
      return {{}, reverse};
    }
    case Profile::kQuick: {
      const Overrides small = {"model.blocks=[[8, 8], [16, 16]]", "model.keep_convolution=1.0",
                               "training.schedule=cosine", "training.warm_up=0.1", "training.last_rate=1e-5"};
      ProfileOverrides overrides{small, small};
      for (const auto* change : {"training.epochs=3", "training.rate=3e-3"}) overrides.dnn.emplace_back(change);
      for (const auto* change : {"training.epochs=4", "training.rate=4e-3"}) overrides.dpn.emplace_back(change);
      return overrides;
    }
  }
  return {};
}

/// How much is evaluated.
struct Extent {
  int64_t inputs;  ///< of a set at most; 0: as many as the paper has
  int64_t dropout_samples;
  std::optional<int64_t> replicates;  ///< of the bootstrap
};

Extent extent_of(Profile profile) {
  return profile == Profile::kQuick ? Extent{5000, 10, 200} : Extent{0, 20, std::nullopt};
}

TrainConfig configured(const char* name, const Overrides& of_profile, const MnistOptions& options) {
  auto overrides = of_profile;
  overrides.push_back(fmt::format("training.seed={}", options.seed));
  overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
  return recipe(name, overrides);
}

/// DNN, MCDP, DPN; `suffix` is part of the names of their configurations and of their folders.
void add_models(ImageExperiment& experiment, const MnistOptions& options, const char* family, const char* suffix) {
  const auto overrides = profile_overrides(options.profile);
  const auto dnn = configured(fmt::format("{}-dnn", family).c_str(), overrides.dnn, options);
  const auto dpn = configured(fmt::format("{}-dpn", family).c_str(), overrides.dpn, options);
  const auto folder = [&](const char* name) { return std::string(name) + suffix; };
  experiment.models.push_back({"DNN", folder("dnn"), dnn, 0});
  experiment.models.push_back({"MCDP", folder("dnn"), dnn, extent_of(options.profile).dropout_samples});
  experiment.models.push_back({"DPN", folder("dpn"), dpn, 0});
}

/// At most as many rows as the profile takes of a set of `size`, drawn by seed.
std::string at_most(const std::string& set, int64_t size, int64_t most, uint64_t seed) {
  return size <= most ? set : fmt::format("{},subset={},seed={}", set, most, seed);
}

ImageExperiment begun(const MnistOptions& options) {
  ImageExperiment experiment;
  const auto extent = extent_of(options.profile);
  const auto most = extent.inputs == 0 ? int64_t{15'000} : extent.inputs;
  experiment.seed = options.seed;
  experiment.inside = at_most("mnist:valid+test", 15'000, most, options.seed);
  experiment.inside_title = "MNIST valid+test";
  experiment.published = published_mnist();
  experiment.bootstrap.replicates = extent.replicates;
  const auto omniglot = at_most("omniglot", 32'460, most, options.seed);
  experiment.outside = {{"OMNIGLOT", omniglot + ",size=28,resample=nearest", "OMNIGLOT"},
                        {"OMNIGLOT, inverted", omniglot + ",invert", ""}};
  experiment.remarks.emplace_back(
      "OMNIGLOT is black on white, MNIST white on black: polarity alone tells them apart. Inverted is the honest test. "
      "The authors' code takes the nearest pixel for 28x28, so does the first row; inverted, it is antialiased as "
      "MNIST "
      "is.");
  if (options.profile == Profile::kQuick)
    experiment.remarks.push_back(fmt::format(
        "Profile quick: a VGG-6 of 8 and 16 channels trained for 3 and 4 epochs, {} inputs a set, {} dropout "
        "samples. It shows the effects, not the paper's numbers.",
        extent.inputs, extent.dropout_samples));
  if (options.profile == Profile::kModern)
    experiment.remarks.emplace_back("Profile modern: the DPN is trained with the reverse KL divergence.");
  if (!options.overrides.empty())
    experiment.remarks.emplace_back("Not as configured: settings were given by hand, see the command.");
  return experiment;
}

PlanOfSeed plan_by(ImageExperiment (*experiment)(const MnistOptions&), const ExperimentOptions& options) {
  return [=](uint64_t seed) { return experiment({options.profile, seed, options.overrides}); };
}

}  // namespace

ImageExperiment mnist_experiment(const MnistOptions& options) {
  auto experiment = begun(options);
  experiment.name = "mnist";
  experiment.title = "Digits, and what is none";
  experiment.lead =
      "The MNIST experiments of “Predictive Uncertainty Estimation via Prior Networks” (Malinin and Gales, 2018, "
      "section "
      "5.2 and appendix B.1), reproduced by priornet: which uncertainty finds misclassified digits, and which finds "
      "images that are no digits at all?";
  const auto all_of = [&](const std::string& set, int64_t size) {
    const auto most = extent_of(options.profile).inputs;
    return most == 0 ? set : at_most(set, size, most, options.seed);
  };
  experiment.outside.push_back({"SEMEION", "semeion", "SEMEION"});
  experiment.outside.push_back({"SVHN", all_of("svhn:test", 26'032), "SVHN"});
  experiment.outside.push_back({"CIFAR-10", all_of("cifar10:test", 10'000), "CIFAR-10"});
  experiment.outside.push_back({"Fashion-MNIST", all_of("fashion-mnist:test", 10'000), ""});
  add_models(experiment, options, "mnist", "");
  return experiment;
}

ImageExperiment mnist_noise_experiment(const MnistOptions& options) {
  auto experiment = begun(options);
  experiment.name = "mnist-noise";
  experiment.title = "Digits in noise";
  experiment.lead =
      "The noise experiment of “Predictive Uncertainty Estimation via Prior Networks” (Malinin and Gales, 2018, "
      "section "
      "5.2), reproduced by priornet: Gaussian noise on every input, in training and evaluation, makes all digits "
      "ambiguous. Which uncertainty still finds what is no digit?";
  experiment.is_noise_table = true;
  add_models(experiment, options, "mnist", "");
  add_models(experiment, options, "mnist-noise", "-noise");
  experiment.remarks.emplace_back(
      "At sigma 3 the DNN has a gentler recipe than at 0 (configs/mnist-noise-dnn.toml), chosen by its validation "
      "loss: "
      "with the paper's keep probability of 0.5 it does not learn.");
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
