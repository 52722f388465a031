#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tool/experiments/experiment.h"
#include "tool/experiments/image_run.h"

// Shared by the experiments on images: how their models come from configurations, and what the profiles change.

namespace priornet {

/// What defines an experiment of one seed.
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

/// "CIFAR-10, paper profile": the heading of an experiment in reports.
std::string titled(const char* what, Profile profile);

/// An experiment with everything that options and profile decide; the caller fills in the rest.
ImageExperiment begin_experiment(const ImagePlanOptions& options);

/// ConfigError for profile paper, in an experiment that the paper does not have.
void refuse_paper_profile(const ImagePlanOptions& options, const char* experiment);

/// A configuration of configs/, and what a profile changes in it.
struct PlannedRecipe {
  std::string name;
  std::vector<std::string> changes;
};

/// The folder of a network of a seed below runs/.
std::string run_of_seed(uint64_t seed, const std::string& name);

/// The recipe, changed by the profile, the seed, and then by hand.
TrainConfig planned_config(const PlannedRecipe& recipe, const ImagePlanOptions& options);

/// The models of the paper.
struct PaperRecipes {
  PlannedRecipe dnn;
  PlannedRecipe dpn;
  std::string suffix;  ///< of the folders of their runs
};

/// Adds DNN, MCDP (the same network, run with dropout on) and DPN.
void add_paper_models(ImageExperiment& experiment, const PaperRecipes& recipes, const ImagePlanOptions& options);

/// Those of profile modern.
struct ModernRecipes {
  PlannedRecipe dnn;
  PlannedRecipe outlier_exposure;
  PlannedRecipe dpn;
  std::optional<PlannedRecipe> distilled;
};

/// Adds DNN, OE and DPN, one network each per seed. The networks of the seeds are the members of three ensembles, as
/// their configurations describe them: with the first seed they are added as "DNN ensemble" and so on, so that only
/// members beyond the seeds cost extra. "DPN distilled" is one network per seed that learns from the DPN ensemble;
/// without ensembles (method.members=1) there is none. One network is compared with one, an ensemble with an ensemble:
/// DPN and DPN distilled with OE, DPN ensemble with OE ensemble, differential entropy with entropy.
void add_modern_models(ImageExperiment& experiment, const ModernRecipes& recipes, const ImagePlanOptions& options);

/// The set, or the number of its `size` rows that the profile evaluates, drawn by seed.
std::string evaluated(const std::string& set, int64_t size, const ImagePlanOptions& options);

/// The plan of every seed that the experiment is run with.
PlanOfSeed plan_by(ImageExperiment (*experiment)(const ImagePlanOptions&), const ExperimentOptions& options);

// Shared by the experiments on 32x32 colour images, SVHN and CIFAR-10.

/// TinyImageNet's test images, resized in two ways: as the authors' TensorFlow 1 did it (every other pixel: bilinear
/// and bicubic are the same at half the size), which is compared with the published cells, and bilinear with
/// antialiasing; LSUN; and scenes of Places, which are not LSUN and have no published cells.
std::vector<PlannedSet> photograph_sets(const ImagePlanOptions& options);

/// configs/FAMILY-NAME.toml for profile quick: a small network that a CPU trains in minutes.
PlannedRecipe quick_recipe(const std::string& family, const std::string& name);

/// Adds the models of a family of configurations ("cifar10": configs/cifar10-dnn.toml, ...) for the profile.
void add_colour_models(ImageExperiment& experiment, const std::string& family, const ImagePlanOptions& options);

/// Adds remarks for readers of the tables of both.
void add_colour_remarks(ImageExperiment& experiment, const ImagePlanOptions& options);

// The paper's experiments on MNIST: section 5.2, and appendix B.1 for further sets.

/// DNN, MCDP and DPN on MNIST valid+test against OMNIGLOT (as published, and with MNIST's polarity), SEMEION, SVHN,
/// CIFAR-10 and Fashion-MNIST.
ImageExperiment mnist_experiment(const ImagePlanOptions& options);

/// The same networks, and others trained on inputs with Gaussian noise of sigma 3, against OMNIGLOT.
ImageExperiment mnist_noise_experiment(const ImagePlanOptions& options);

/// Run them and write their files (image_run.h). The noise experiment uses the networks of a finished experiment
/// `mnist` in the folder beside its own. AbsentSet if MNIST is missing.
ExperimentSummary reproduce_mnist(const ExperimentOptions& options, Progress& progress);
std::vector<TrainingCommand> mnist_networks(const ExperimentOptions& options);
ExperimentSummary reproduce_mnist_noise(const ExperimentOptions& options, Progress& progress);
std::vector<TrainingCommand> mnist_noise_networks(const ExperimentOptions& options);

// The paper's experiment on SVHN: appendix B.2.

/// DNN, MCDP and DPN, whose out-of-distribution training data is CIFAR-10, on SVHN test against the test sets of
/// CIFAR-10 and CIFAR-100, TinyImageNet, LSUN, and scenes of Places.
ImageExperiment svhn_experiment(const ImagePlanOptions& options);

/// Runs it and writes its files (image_run.h). AbsentSet if SVHN or CIFAR-10 is missing.
ExperimentSummary reproduce_svhn(const ExperimentOptions& options, Progress& progress);
std::vector<TrainingCommand> svhn_networks(const ExperimentOptions& options);

// The paper's experiment on CIFAR-10: section 5.2 and appendix B.3.

/// DNN, MCDP and DPN, whose out-of-distribution training data is CIFAR-100, on CIFAR-10 test against the test sets of
/// CIFAR-100 and SVHN, TinyImageNet, with and without the classes that CIFAR-10 has too, LSUN, and scenes of Places.
ImageExperiment cifar10_experiment(const ImagePlanOptions& options);

/// Runs it and writes its files (image_run.h). AbsentSet if CIFAR-10 or CIFAR-100 is missing.
ExperimentSummary reproduce_cifar10(const ExperimentOptions& options, Progress& progress);
std::vector<TrainingCommand> cifar10_networks(const ExperimentOptions& options);

// The relatives of Prior Networks that also give a Dirichlet, but learn from labels alone, on the same network and the
// same images: evidential learning (EDL), its relaxed form (R-EDL), and a posterior network of densities.

/// DNN, OE (profile modern) and DPN of the experiment cifar10, then EDL, R-EDL and Posterior, one network each; on the
/// sets of cifar10. The DPN is compared with each relative, both by differential entropy. ConfigError for profile
/// paper.
ImageExperiment relatives_experiment(const ImagePlanOptions& options);

/// Runs it and writes its files (image_run.h). Uses the networks of finished experiments `cifar10`, `cifar10-modern`,
/// `openood` and `reasons` in the folders beside its own. AbsentSet if CIFAR-10 or CIFAR-100 is missing.
ExperimentSummary reproduce_relatives(const ExperimentOptions& options, Progress& progress);
std::vector<TrainingCommand> relatives_networks(const ExperimentOptions& options);

}  // namespace priornet
