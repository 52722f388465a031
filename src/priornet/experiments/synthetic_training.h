#pragma once

#include <priornet/experiments/synthetic.h>
#include <priornet/models/mlp.h>

namespace priornet {

enum class SyntheticKind {
  kDnn,  ///< cross-entropy on in-distribution points only
  kDpn,  ///< the Prior Network loss on in-distribution and out-of-distribution points
};

struct TrainedNetwork {
  MLP network = nullptr;
  double loss = 0.0;  ///< mean over the last epoch
};

/// Trains one network on `train`; reports an epoch at a time.
TrainedNetwork train_synthetic(SyntheticKind kind, const GaussianClasses& classes, const LabelledPoints& train,
                               const SyntheticOptions& options, Progress& progress);

}  // namespace priornet
