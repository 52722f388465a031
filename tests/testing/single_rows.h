#pragma once

#include <torch/types.h>
#include "uncertainty/dirichlet/single_measure_row.h"

#include <vector>

// The float32 row as a GPU computes it, on the CPU: the classes dealt to lanes, each lane's in chunks.

namespace priornet {

struct SingleRow {
  bool enough = false;
  float measures[kDirichletMeasures] = {};
};

/// Lanes as the kernel has them: one thread for a short row, a group of 32 for a long one.
inline int lanes_for(int64_t classes) { return classes <= 32 ? 1 : 32; }

inline SingleRow single_row(const std::vector<float>& logits, int lanes) {
  const auto classes = static_cast<int64_t>(logits.size());
  int64_t top_index = 0;
  for (int64_t c = 1; c < classes; ++c)
    if (logits[c] > logits[top_index]) top_index = c;
  const float top = logits[top_index];
  SingleSums<double> sums;
  for (int lane = 0; lane < lanes; ++lane) {
    SingleSums<float> chunk;
    int held = 0;
    for (int64_t c = lane; c < classes; c += lanes) {
      add_single(chunk, logits[c], top, c == top_index);
      if (++held % kSingleChunk != 0) continue;
      sums.add(chunk);
      chunk = {};
    }
    sums.add(chunk);
  }
  SingleRow row{is_single_enough(sums, top)};
  if (!row.enough) return row;
  const auto measures = measures_of(sums, classes, top, top_index);
  for (int m = 0; m < kDirichletMeasures; ++m) row.measures[m] = static_cast<float>(measures.values[m].value);
  return row;
}

inline std::vector<float> floats(const torch::Tensor& row) {
  const auto values = row.contiguous();
  return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
}

}  // namespace priornet
