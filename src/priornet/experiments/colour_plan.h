#pragma once

#include <priornet/experiments/image_plan.h>

// What the experiments on 32x32 colour images, SVHN and CIFAR-10, share.

namespace priornet {

/// TinyImageNet's test images as the paper's text has it (bilinear, which in its day did not antialias) and
/// antialiased, LSUN, and scenes of Places, which are not LSUN and have no published cells.
std::vector<PlannedSet> photograph_sets(const ImagePlanOptions& options);

/// Adds the models of a family of configurations ("cifar10": configs/cifar10-dnn.toml, ...) as the profile has them.
void add_colour_models(ImageExperiment& experiment, const std::string& family, const ImagePlanOptions& options);

/// Adds what a reader of the tables of both should know.
void add_colour_remarks(ImageExperiment& experiment, const ImagePlanOptions& options);

}  // namespace priornet
