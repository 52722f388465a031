#pragma once

#include <memory>

#include "learning/training/training_step.h"

namespace priornet {

/// A training step whose work, the batch included, is recorded once as a CUDA graph and then replayed: the GPU no
/// longer waits for the host to launch kernel after kernel. Runs plainly where a network cannot be recorded. Works
/// within a SideStream, always with the same batches.
std::unique_ptr<TrainingStep> captured_step(Classifier& network, FlatParameters& parameters, Optimiser& optimiser,
                                            TrainingStep::Options options);

}  // namespace priornet
