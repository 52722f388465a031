#pragma once

#include <torch/types.h>

namespace priornet {

constexpr int64_t kMostColumns = 1024;

/// Gaussians, one per class, that share a covariance: that of the rows about their class's mean, shrunk towards a
/// multiple of the identity as Ledoit and Wolf (2004) choose it, so that it can be inverted with any number of rows.
/// More than kMostColumns columns are first mixed down to that many at random: their covariance would be larger than
/// many networks. Rows times `whitening` have covariance I.
struct ShrunkGaussian {
  torch::Tensor whitening;  ///< [D, d], d = D up to kMostColumns
  torch::Tensor centres;    ///< [C, d]: the means, whitened
  double shrinkage = 0.0;   ///< in [0, 1]
};

/// rows: [n, D], n >= 2, any floating type; labels: int64 [n], or undefined: one class. Classes without rows have no
/// centre. float64, on the rows' device.
ShrunkGaussian fit_shrunk_gaussian(const torch::Tensor& rows, const torch::Tensor& labels);

/// The deviation of each column over all rows, float64 [D]; 3 for a column that never varies.
torch::Tensor column_deviations(const torch::Tensor& rows);

/// The same, with every column in units of its deviation while its covariance is shrunk, so that the target of
/// shrinking does not depend on units. It takes rows as they are.
ShrunkGaussian fit_gaussian_in_deviations(const torch::Tensor& rows, const torch::Tensor& labels);

/// Squared Mahalanobis distances to the centres, float64 [N, C], of rows [N, D]. Whitening enlarges small differences,
/// so float32 is not enough.
torch::Tensor mahalanobis_distances(const torch::Tensor& rows, const torch::Tensor& whitening,
                                    const torch::Tensor& centres);

}  // namespace priornet
