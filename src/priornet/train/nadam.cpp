#include <priornet/core/checks.h>
#include <priornet/core/parallel.h>
#include <priornet/train/nadam.h>

#include <cmath>

namespace priornet {
namespace {

enum Coefficient { kOfGradient, kOfMean, kOfSquare, kCoefficients };

torch::Tensor coefficients(const OptimiserOptions& options, const std::vector<double>& rates) {
  const auto momentum = [&](double t) {
    return options.beta1 * (1.0 - 0.5 * std::pow(0.96, t * options.momentum_decay));
  };
  const auto table = torch::empty({static_cast<int64_t>(rates.size()), kCoefficients}, torch::kFloat64);
  auto* row = table.data_ptr<double>();
  double product = 1.0;
  double t = 0.0;
  for (const auto rate : rates) {
    t += 1.0;
    product *= momentum(t);
    row[kOfGradient] = rate * (1.0 - momentum(t)) / (1.0 - product);
    row[kOfMean] = rate * momentum(t + 1.0) / (1.0 - product * momentum(t + 1.0));
    row[kOfSquare] = 1.0 / (1.0 - std::pow(options.beta2, t));
    row += kCoefficients;
  }
  return table;
}

template <class T>
void update_on_cpu(FlatParameters& parameters, std::vector<NamedTensor>& moments, const OptimiserOptions& options,
                   const double* row) {
  T* p = parameters.values.data_ptr<T>();
  const T* g = parameters.gradients.data_ptr<T>();
  T* m = moments[0].values.data_ptr<T>();
  T* v = moments[1].values.data_ptr<T>();
  const T beta1(options.beta1), beta2(options.beta2), rest1(1.0 - options.beta1), rest2(1.0 - options.beta2);
  const T of_gradient(row[kOfGradient]), of_mean(row[kOfMean]), of_square(row[kOfSquare]), epsilon(options.epsilon);
  parallel_rows(parameters.values.numel(), 1, [&](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      m[i] = beta1 * m[i] + rest1 * g[i];
      v[i] = beta2 * v[i] + rest2 * g[i] * g[i];
      p[i] -= (of_gradient * g[i] + of_mean * m[i]) / (std::sqrt(v[i] * of_square) + epsilon);
    }
  });
}

}  // namespace

NAdam::NAdam(FlatParameters& parameters, const OptimiserOptions& options, const std::vector<double>& rates)
    : Optimiser(parameters, options, coefficients(options, rates)) {
  for (const auto beta : {options.beta1, options.beta2})
    check_range("NAdam", "each beta", beta >= 0.0 && beta < 1.0, "in [0, 1)", beta);
  check_range("NAdam", "epsilon", options.epsilon > 0.0, "above 0", options.epsilon);
  moments_ = {{"mean", torch::zeros_like(parameters.values)}, {"square", torch::zeros_like(parameters.values)}};
}

void NAdam::update(const torch::Tensor& row) {
  auto& values = parameters_.values;
  const auto& gradients = parameters_.gradients;
  if (values.is_cpu()) {
    if (values.scalar_type() == torch::kFloat64)
      update_on_cpu<double>(parameters_, moments_, options_, row.data_ptr<double>());
    else
      update_on_cpu<float>(parameters_, moments_, options_, row.data_ptr<double>());
    return;
  }
  auto& mean = moments_[0].values;
  auto& square = moments_[1].values;
  mean.mul_(options_.beta1).add_(gradients, 1.0 - options_.beta1);
  square.mul_(options_.beta2).addcmul_(gradients, gradients, 1.0 - options_.beta2);
  const auto direction = (gradients * row[kOfGradient]).add_(mean * row[kOfMean]);
  values.sub_(direction.div_((square * row[kOfSquare]).sqrt_().add_(options_.epsilon)));
}

}  // namespace priornet
