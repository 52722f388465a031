#pragma once

#include <torch/types.h>

#include <limits>
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

  /// alpha_c = alpha0 pi_c. probabilities: [N, K], rows sum to 1; the dtype of the logits. A pi_c below 1.2e-7 (the
  /// epsilon of float32) counts as that: a certain teacher rounds to 0, which no Dirichlet can have as a target.
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

// Losses of logits [N, K], K >= 2 (float32 or float64, CPU or CUDA), alpha = exp(logits). Each returns [N] in nats,
// differentiable in logits (once; a second derivative throws ArgumentError): value and gradient come from one fused
// pass, not from a graph over special functions. Labels and probabilities lie on the device of the logits.
// A wrong shape, dtype or device throws ArgumentError.

/// KL[target || Dir(alpha)]: the paper's loss.
torch::Tensor forward_kl(const torch::Tensor& logits, const DirichletTarget& target);

/// KL[Dir(alpha) || target].
torch::Tensor reverse_kl(const torch::Tensor& logits, const DirichletTarget& target);

/// -ln p(label) under the expected categorical. labels: int64 [N].
torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels);

enum class Divergence { kForward, kReverse };

struct PriorNetworkLossOptions {
  Divergence divergence = Divergence::kForward;
  SmoothingOptions target;            ///< of the in-distribution rows; the out-of-distribution target is flat
  double in_weight = 1.0;             ///< of the divergence on in-distribution rows
  double out_weight = 1.0;            ///< of the divergence on out-of-distribution rows
  double cross_entropy_weight = 0.0;  ///< of the cross-entropy on in-distribution rows
  double steepest = std::numeric_limits<double>::infinity();  ///< the largest element of the gradient, either way
};

struct PriorNetworkLoss {
  torch::Tensor total;          ///< scalar, differentiable
  torch::Tensor in;             ///< mean divergence on the in-distribution rows, unweighted, detached
  torch::Tensor out;            ///< mean divergence on the out-of-distribution rows, unweighted, detached
  torch::Tensor cross_entropy;  ///< mean cross-entropy of the in-distribution rows, unweighted, detached
};

/// The multi-task loss of one batch: the first labels.size(0) rows are in-distribution, the others out of it.
/// Either part may be empty; its mean is then 0.
PriorNetworkLoss prior_network_loss(const torch::Tensor& logits, const torch::Tensor& labels,
                                    const PriorNetworkLossOptions& options = {});

/// Without a graph: the total loss of a batch, and its gradient in the logits. On a GPU this takes two launches and no
/// wait, as a training step needs.
struct LossWithGradient {
  PriorNetworkLoss loss;
  torch::Tensor gradient;  ///< shaped like the logits
};
LossWithGradient prior_network_gradient(const torch::Tensor& logits, const torch::Tensor& labels,
                                        const PriorNetworkLossOptions& options = {});

/// The mean cross-entropy alone; labels for all rows.
LossWithGradient cross_entropy_gradient(const torch::Tensor& logits, const torch::Tensor& labels,
                                        double steepest = std::numeric_limits<double>::infinity());

struct DistillationOptions {
  double alpha0 = 1e3;  ///< precision of the target
  double in_weight = 1.0;
  double out_weight = 1.0;
  double steepest = std::numeric_limits<double>::infinity();
};

/// The forward KL from alpha0 times a teacher's probabilities [N, K] on the first N rows, and from the flat target on
/// the others.
LossWithGradient distillation_gradient(const torch::Tensor& logits, const torch::Tensor& probabilities,
                                       const DistillationOptions& options = {});

}  // namespace priornet
