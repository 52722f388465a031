#pragma once

#include <torch/types.h>

#include <string_view>

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
  const torch::Tensor& labels() const { return values_; }                   ///< of kSmoothedLabels
  const torch::Tensor& probabilities() const { return values_; }            ///< of kTeacher
  int64_t rows() const { return values_.defined() ? values_.size(0) : 0; }  ///< not of kFlat, which fits any
  DirichletTarget contiguous() const;                                       ///< the same with its values in one piece
  double alpha0() const { return options_.alpha0; }                         ///< of kSmoothedLabels and kTeacher
  double concentration_on_label(int64_t classes) const;                     ///< not of kTeacher
  double concentration_elsewhere() const;                                   ///< not of kTeacher

  /// Throws ArgumentError unless the target fits logits [N, K].
  void check(std::string_view function, const torch::Tensor& logits) const;

 private:
  DirichletTarget(Kind kind, torch::Tensor values, const SmoothingOptions& options);

  Kind kind_;
  torch::Tensor values_;
  SmoothingOptions options_;
};

}  // namespace priornet
