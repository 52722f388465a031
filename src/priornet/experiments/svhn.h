#pragma once

#include <priornet/experiments/image_plan.h>

// The paper's experiment on SVHN: appendix B.2.

namespace priornet {

/// DNN, MCDP and DPN, whose out-of-distribution training data is CIFAR-10, on SVHN test against the test sets of
/// CIFAR-10 and CIFAR-100, TinyImageNet, LSUN, and scenes of Places.
ImageExperiment svhn_experiment(const ImagePlanOptions& options);

/// Runs it and writes its files (image_reproduction.h). AbsentSet where SVHN or CIFAR-10 is not there.
ExperimentSummary reproduce_svhn(const ExperimentOptions& options, Progress& progress);

}  // namespace priornet
