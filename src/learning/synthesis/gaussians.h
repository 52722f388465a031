#pragma once

#include <torch/types.h>

#include <cstdint>

// The synthetic data of the paper's section 5.1: K = 3 equally likely classes in the plane, each an isotropic
// Gaussian N(m_c, sigma^2 I), whose means stand at equal angles on a circle around the origin.
// Points are [N, 2]; the functions of points take float32 or float64 and return the same dtype.
// A wrong shape or dtype, or an option out of range, throws ArgumentError.

namespace priornet {

struct GaussianClasses {
  static constexpr int64_t kClasses = 3;
  double sigma = 1.0;   ///< > 0
  double radius = 4.0;  ///< of the circle of the means, > 0
};

/// The means m_c, float64 [3, 2]; the first lies straight up.
torch::Tensor means(const GaussianClasses& classes);

struct LabelledPoints {
  torch::Tensor points;  ///< float32 [N, 2]
  torch::Tensor labels;  ///< int64 [N]
};
LabelledPoints sample(const GaussianClasses& classes, int64_t count, uint64_t seed);

/// ln p(class | point), [N, 3].
torch::Tensor log_posterior(const GaussianClasses& classes, const torch::Tensor& points);

/// Entropy of the true posterior in nats, [N]: ln 3 where the classes are equally likely, 0 far from any boundary.
torch::Tensor posterior_entropy(const GaussianClasses& classes, const torch::Tensor& points);

/// Error of the Bayes-optimal classifier. By symmetry it is that of three-phase signals of one strength (Craig 1991):
/// (1 / pi) * integral from 0 to 2 pi / 3 of exp(-radius^2 sin^2(pi / 3) / (2 sigma^2 sin^2 t)) dt.
double bayes_error(const GaussianClasses& classes);

/// Whether a point lies in the data region, bool [N]: within 3 sigma of some mean. A point of a class lies further
/// than that from its own mean with probability exp(-4.5), 1.1 %, so at most that part of the data is outside.
torch::Tensor in_data_region(const GaussianClasses& classes, const torch::Tensor& points);

/// Half the side of the square that stands for the whole input space, [-20, 20]^2.
constexpr double kHalfSide = 20.0;

/// Uniform points of the square outside the data region, float32 [count, 2]: the out-of-distribution points. Throws
/// ArgumentError if the data region covers the square.
torch::Tensor sample_outside(const GaussianClasses& classes, int64_t count, uint64_t seed);

}  // namespace priornet
