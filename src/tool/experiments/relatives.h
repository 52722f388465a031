#pragma once

#include <vector>

#include "tool/experiments/experiment.h"
#include "tool/experiments/image_plans.h"
#include "tool/experiments/image_run.h"

// The relatives of Prior Networks that also give a Dirichlet, but learn from labels alone, on the same network and the
// same images: evidential learning (EDL), its relaxed form (R-EDL), and a posterior network of densities.

namespace priornet {

/// DNN, OE (profile modern) and DPN of the experiment cifar10, then EDL, R-EDL and Posterior, one network each; on the
/// sets of cifar10. The DPN is compared with each relative, both by differential entropy. ConfigError for profile
/// paper.
ImageExperiment relatives_experiment(const ImagePlanOptions& options);

/// Runs it and writes its files (image_run.h). Uses the networks of finished experiments `cifar10`, `cifar10-modern`,
/// `openood` and `reasons` in the folders beside its own. AbsentSet if CIFAR-10 or CIFAR-100 is missing.
ExperimentSummary reproduce_relatives(const ExperimentOptions& options, Progress& progress);
std::vector<TrainingCommand> relatives_networks(const ExperimentOptions& options);

}  // namespace priornet
