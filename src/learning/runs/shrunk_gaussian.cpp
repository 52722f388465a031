#include "learning/runs/shrunk_gaussian.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

// The means of those classes that have rows, [C, D], and the class of each row among them.
std::pair<torch::Tensor, torch::Tensor> class_means(const torch::Tensor& rows, const torch::Tensor& labels) {
  if (!labels.defined()) return {rows.mean(0, true), torch::zeros({rows.size(0)}, rows.options().dtype(torch::kInt64))};
  const auto [classes, of_row, counts] = at::_unique2(labels.to(rows.device()), true, true, true);
  auto sums = torch::zeros({classes.size(0), rows.size(1)}, rows.options());
  sums.index_add_(0, of_row, rows);
  return {sums / counts.to(rows.scalar_type()).unsqueeze(1), of_row};
}

// For centred rows with covariance S: the share of mu I, mu = tr S / D, in the best mixture.
double ledoit_wolf(const torch::Tensor& centred, const torch::Tensor& covariance) {
  const auto count = static_cast<double>(centred.size(0));
  const auto size = static_cast<double>(centred.size(1));
  const auto mu = covariance.diagonal().mean().item<double>();
  const auto norm = covariance.square().sum().item<double>();
  const auto distance = norm / size - mu * mu;  // of S from mu I, squared, per column
  if (!(distance > 0.0)) return 1.0;
  // How far each row's own outer product lies from S.
  const auto fourth = centred.square().sum(1).square().mean().item<double>();
  const auto scatter = (fourth - norm) / (size * count);
  return std::clamp(scatter / distance, 0.0, 1.0);
}

// Depends on the number of columns alone: the seed is fixed.
torch::Tensor random_mixture(const torch::Tensor& rows) {
  const auto generator = make_generator(derive_seed(0, "mixture of columns"));
  return torch::randn({rows.size(1), kMostColumns}, generator, torch::kFloat64).to(rows.device()) /
         std::sqrt(static_cast<double>(kMostColumns));
}

}  // namespace

ShrunkGaussian fit_shrunk_gaussian(const torch::Tensor& rows, const torch::Tensor& labels) {
  if (rows.dim() != 2 || rows.size(0) < 2 || rows.size(1) < 1)
    throw ArgumentError(c10::str("a Gaussian is fitted to at least 2 rows of numbers, found ", rows.sizes()));
  const auto exact = rows.to(torch::kFloat64);
  if (exact.size(1) > kMostColumns) {
    const auto mixture = random_mixture(exact);
    auto mixed = fit_shrunk_gaussian(exact.matmul(mixture), labels);
    mixed.whitening = mixture.matmul(mixed.whitening);
    return mixed;
  }
  const auto [means, of_row] = class_means(exact, labels);
  const auto centred = exact - means.index_select(0, of_row);
  auto covariance = centred.t().matmul(centred) / static_cast<double>(rows.size(0));
  const auto shrinkage = ledoit_wolf(centred, covariance);
  const auto mu = covariance.diagonal().mean().item<double>();
  covariance = covariance * (1.0 - shrinkage);
  covariance.diagonal().add_(shrinkage * mu);
  const auto [values, vectors] = at::linalg_eigh(covariance);
  // If rows never vary, there is nothing to scale by.
  const auto whitening = vectors / values.clamp_min(mu > 0.0 ? 1e-10 * mu : 1.0).sqrt();
  return {whitening, means.matmul(whitening), shrinkage};
}

torch::Tensor column_deviations(const torch::Tensor& rows) {
  // The unit of a column that never varied is unknown. With few rows, new ones often differ there for the first time,
  // and with a deviation of 1 such rows would be the strangest of all (bench/unfamiliar_rows.py choice).
  constexpr double kUnknown = 3.0;
  const auto deviation = rows.to(torch::kFloat64).std(0, false);
  return torch::where(deviation > 1e-9, deviation, torch::full_like(deviation, kUnknown));
}

ShrunkGaussian fit_gaussian_in_deviations(const torch::Tensor& rows, const torch::Tensor& labels) {
  const auto deviations = column_deviations(rows);
  auto gaussian = fit_shrunk_gaussian(rows.to(torch::kFloat64) / deviations, labels);
  gaussian.whitening = gaussian.whitening / deviations.unsqueeze(1);
  return gaussian;
}

torch::Tensor mahalanobis_distances(const torch::Tensor& rows, const torch::Tensor& whitening,
                                    const torch::Tensor& centres) {
  const auto white = rows.to(torch::kFloat64).matmul(whitening.to(torch::kFloat64));
  // One class at a time: differences do not cancel as |a|^2 + |b|^2 - 2 a b would.
  std::vector<torch::Tensor> distances;
  for (int64_t c = 0; c < centres.size(0); ++c) distances.push_back((white - centres[c]).square().sum(1));
  return torch::stack(distances, 1);
}

}  // namespace priornet
