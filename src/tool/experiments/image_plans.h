#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tool/experiments/experiment.h"
#include "tool/experiments/image_run.h"

// The experiments on images: how their models come from configurations, and what the profiles change.

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

/// The folder of a network of a seed below runs/.
std::string run_of_seed(uint64_t seed, const std::string& name);

/// The set, or the number of its `size` rows that the profile evaluates, drawn by seed.
std::string evaluated_set(const std::string& set, int64_t size, const ImagePlanOptions& options);

using PlanImages = ImageExperiment (*)(const ImagePlanOptions&);

/// The plan of every seed that the experiment is run with.
PlanOfSeed plan_by(PlanImages plan, const ExperimentOptions& options);

// The paper's experiments on MNIST: section 5.2, and appendix B.1 for further sets.

/// DNN, MCDP and DPN on MNIST valid+test against OMNIGLOT (as published, and with MNIST's polarity), SEMEION, SVHN,
/// CIFAR-10 and Fashion-MNIST.
ImageExperiment mnist_experiment(const ImagePlanOptions& options);

/// The same networks, and others trained on inputs with Gaussian noise of sigma 3, against OMNIGLOT.
ImageExperiment mnist_noise_experiment(const ImagePlanOptions& options);

// The paper's experiment on SVHN: appendix B.2.

/// DNN, MCDP and DPN, whose out-of-distribution training data is CIFAR-10, on SVHN test against the test sets of
/// CIFAR-10 and CIFAR-100, TinyImageNet, LSUN, and scenes of Places.
ImageExperiment svhn_experiment(const ImagePlanOptions& options);

// The paper's experiment on CIFAR-10: section 5.2 and appendix B.3.

/// DNN, MCDP and DPN, whose out-of-distribution training data is CIFAR-100, on CIFAR-10 test against the test sets of
/// CIFAR-100 and SVHN, TinyImageNet, with and without the classes that CIFAR-10 has too, LSUN, and scenes of Places.
ImageExperiment cifar10_experiment(const ImagePlanOptions& options);

// The relatives of Prior Networks that also give a Dirichlet, but learn from labels alone, on the same network and the
// same images: evidential learning (EDL), its relaxed form (R-EDL), and a posterior network of densities.

/// DNN, OE (profile modern) and DPN of the experiment cifar10, then EDL, R-EDL and Posterior, one network each; on the
/// sets of cifar10. The DPN is compared with each relative, both by differential entropy. ConfigError for profile
/// paper.
ImageExperiment relatives_experiment(const ImagePlanOptions& options);

}  // namespace priornet
