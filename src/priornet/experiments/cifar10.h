#pragma once

#include <priornet/experiments/image_plan.h>

// The paper's experiment on CIFAR-10: section 5.2 and appendix B.3.

namespace priornet {

/// DNN, MCDP and DPN, whose out-of-distribution training data is CIFAR-100, on CIFAR-10 test against the test sets of
/// CIFAR-100 and SVHN, TinyImageNet, with and without the classes that are CIFAR-10's, LSUN, and scenes of Places.
ImageExperiment cifar10_experiment(const ImagePlanOptions& options);

/// Runs it and writes its files (image_reproduction.h). AbsentSet where CIFAR-10 or CIFAR-100 is not there.
ExperimentSummary reproduce_cifar10(const ExperimentOptions& options, Progress& progress);

}  // namespace priornet
