#pragma once

#include <torch/types.h>
#include "uncertainty/dirichlet/single_measure_row.h"
#include "uncertainty/losses/single_loss_row.h"

#include <algorithm>
#include <cmath>
#include <vector>

// Float32 rows as a GPU computes them, on the CPU: the classes dealt to lanes, each lane's in chunks.

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

struct SingleLossOfRow {
  SingleLoss loss;
  std::vector<double> gradient;  ///< of the divergence
};

/// KL[Dir(beta) || Dir(alpha)], beta = on for the label and off elsewhere; a label of -1: off everywhere.
inline SingleLossOfRow single_forward_kl(const std::vector<float>& logits, double on, double off, int64_t label) {
  constexpr int64_t kLanes = 32, kWidth = 4;
  const auto classes = static_cast<int64_t>(logits.size());
  const auto target = label_target(label < 0 ? off : on, off, classes);
  const RowWeights weights{1.0, 0.0};
  double alpha0 = 0;
  float largest = 0;
  for (const float z : logits) {
    alpha0 += concentration_of(z);
    largest = std::fmax(largest, std::abs(z));
  }
  const float z = logits[label < 0 ? 0 : label];
  const SingleLabel of{label, static_cast<double>(z), concentration_of(z)};
  const auto total = single_total(alpha0, of, false), of_label = single_total(alpha0, of, true);
  const double inverse = quick_inverse(alpha0);
  const SingleLossRow all(total.log, total.a_d, inverse, target.off.psi_difference, weights);
  SingleLossOfRow row{{}, std::vector<double>(classes)};
  SingleLossTerms<double> sums;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    for (int64_t begin = lane * kWidth; begin < classes; begin += kLanes * kWidth) {
      SingleLossTerms<float> chunk;
      for (int64_t c = begin; c < std::min(begin + kWidth, classes); ++c) {
        float gradient = 0;
        const auto terms = single_loss_class(logits[c], all, gradient);
        if (c != label) chunk.add(terms);
        row.gradient[c] = static_cast<double>(gradient);
      }
      sums.add(chunk);
    }
  }
  row.loss = single_loss(sums, largest, total, inverse, of, of_label, target, weights);
  if (label >= 0) row.gradient[label] = row.loss.label_gradient;
  return row;
}

inline std::vector<float> floats(const torch::Tensor& row) {
  const auto values = row.contiguous();
  return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
}

}  // namespace priornet
