#pragma once

#include <priornet/runs/trained_run.h>
#include <priornet/train/training_sets.h>

namespace priornet {

/// Gives the sets of a configuration whose method is distil their teacher: what the networks of its run, on average,
/// say of each training input, a class at least 1.2e-7. Other configurations need none and are left alone.
/// DataError where the run is not there, or knows other classes.
void add_teacher(TrainingSets& sets, const TrainConfig& config, const torch::Device& device, Progress& progress);

}  // namespace priornet
