#pragma once

#include <priornet/experiments/image_plan.h>

// The paper's experiments on MNIST: section 5.2, and appendix B.1 for further sets.

namespace priornet {

/// DNN, MCDP and DPN on MNIST valid+test against OMNIGLOT (as published, and with MNIST's polarity), SEMEION, SVHN,
/// CIFAR-10 and Fashion-MNIST.
ImageExperiment mnist_experiment(const ImagePlanOptions& options);

/// The same networks, and others trained on inputs with Gaussian noise of sigma 3, against OMNIGLOT.
ImageExperiment mnist_noise_experiment(const ImagePlanOptions& options);

/// Run them and write their files (image_reproduction.h). The noise experiment uses the networks of a finished
/// experiment `mnist` in the folder beside its own. AbsentSet where MNIST is not there.
ExperimentSummary reproduce_mnist(const ExperimentOptions& options, Progress& progress);
ExperimentSummary reproduce_mnist_noise(const ExperimentOptions& options, Progress& progress);

}  // namespace priornet
