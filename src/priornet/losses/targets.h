#pragma once

#include <torch/types.h>

// The Dirichlet a Prior Network should give for an input; notation as in docs/math.md, section 5.

namespace priornet {

struct SmoothingOptions {
  double alpha0 = 1e3;    ///< precision of the target
  double epsilon = 1e-2;  ///< probability of each class that is not the label; (K - 1) epsilon < 1
};

/// The target Dirichlets of a batch of N rows: one of three kinds.
class DirichletTarget {
 public:
  /// alpha_c = alpha0 (1 - (K - 1) epsilon) for the label, alpha0 epsilon elsewhere. labels: int64 [N].
  static DirichletTarget smoothed_labels(torch::Tensor labels, const SmoothingOptions& options = {});

  /// alpha_c = 1: every categorical equally likely.
  static DirichletTarget flat();

  /// alpha_c = alpha0 pi_c. probabilities: [N, K], positive, rows sum to 1; the dtype of the logits.
  static DirichletTarget teacher(torch::Tensor probabilities, double alpha0);

  /// The concentrations [N, K] as a tensor shaped like logits; for inspection, the losses do not build it.
  torch::Tensor concentrations(const torch::Tensor& logits) const;

  enum class Kind { kSmoothedLabels, kFlat, kTeacher };
  Kind kind() const { return kind_; }
  const torch::Tensor& labels() const { return values_; }         ///< of kSmoothedLabels
  const torch::Tensor& probabilities() const { return values_; }  ///< of kTeacher
  const SmoothingOptions& options() const { return options_; }

 private:
  DirichletTarget(Kind kind, torch::Tensor values, const SmoothingOptions& options);

  Kind kind_;
  torch::Tensor values_;
  SmoothingOptions options_;
};

}  // namespace priornet
