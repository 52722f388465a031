#pragma once

#include <map>
#include <string>
#include <vector>

#include "tool/experiments/experiment.h"
#include "tool/experiments/image_plans.h"
#include "tool/experiments/image_run.h"

// The CIFAR-10 benchmark of OpenOOD 1.5 (Zhang et al., 2023) with the networks of the experiment cifar10: its splits of
// the test sets, near (CIFAR-100, TinyImageNet) and far (MNIST, SVHN), all as RGB and, if they are not 32x32,
// resized as Pillow does it by default (bilinear, antialiased), which is what its preprocessor does. Its far sets
// Textures and Places365 are left out.

namespace priornet {

/// The measure that ranks each model's inputs, by the model's name.
using MeasureOfModel = std::map<std::string, std::string>;

/// In-distribution: 9,000 images of CIFAR-10's test set. ConfigError for profile paper, which the benchmark does not
/// have.
ImageExperiment openood_experiment(const ImagePlanOptions& options);

/// The same models on the benchmark's validation images: 1,000 of CIFAR-10's test set and 1,000 of TinyImageNet.
ImageExperiment openood_validation(const ImagePlanOptions& options);

/// For each model, the AUROC of every measure that may rank its inputs, on the validation images of one seed. AbsentSet
/// if TinyImageNet, which measures are chosen by, is missing.
std::map<std::string, std::vector<ValidationAuroc>> validation_aurocs(const ImageResult& validation);

/// For each model, the measure with the highest AUROC on the validation images (ModelResult::validation), in the mean
/// over seeds. DataError for a model without them.
MeasureOfModel choose_measures(const std::vector<ImageResult>& seeds);

/// One row per model with the mean AUROC of near and far sets beside published ones; every metric per set; and the
/// AUROC of every measure. One result per seed, of openood_experiment.
std::vector<Table> openood_tables(const std::vector<ImageResult>& seeds, const MeasureOfModel& measures);

/// Runs it and writes its files (image_run.h). Uses the networks of finished experiments `cifar10`, `cifar10-modern`,
/// `reasons` and `relatives` in the folders beside its own. AbsentSet if CIFAR-10 or the lists are missing.
ExperimentSummary reproduce_openood(const ExperimentOptions& options, Progress& progress);
std::vector<TrainingCommand> openood_networks(const ExperimentOptions& options);

}  // namespace priornet
