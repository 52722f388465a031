#pragma once

#include <torch/types.h>

#include <cstdint>

namespace priornet {

struct SampleOptions {
  int64_t samples = 1;  ///< categoricals a row
  uint64_t seed = 0;    ///< the same seed gives the same draws, whatever the number of threads
};

/// ln mu with mu ~ Dir(exp logits), [samples, N, K] for logits [N, K]: in logs, because with small alpha most of mu
/// underflows. Not differentiable. A row with a NaN gives NaN.
torch::Tensor sample_log(const torch::Tensor& logits, const SampleOptions& options = {});

/// mu ~ Dir(exp logits), [samples, N, K].
torch::Tensor sample(const torch::Tensor& logits, const SampleOptions& options = {});

}  // namespace priornet
