#include <priornet/deploy/export/gamma_graph.h>
#include <priornet/dirichlet/digits.h>

namespace priornet::graph {
namespace {

constexpr double kSteps = 6.0;

template <int kSize>
std::vector<double> coefficients_of(const Polynomial<kSize>& polynomial) {
  return {polynomial.coefficients, polynomial.coefficients + kSize};
}

// The product of a + 1 .. a + 5 for b = a + 3.
Value product_around(const Value& b) {
  const auto b2 = b * b;
  return b * ((b2 - 5.0) * b2 + 4.0);
}

}  // namespace

GammaValues gamma_values(const Value& alpha, const Value& log_alpha) {
  const auto is_small = alpha < kSteps;
  const auto small = cast(is_small, torch::kFloat64);
  const auto tame = where(is_small, alpha, 1.0);  // what is not chosen in the end should not overflow either
  const auto b = tame + 3.0;
  const auto b2 = b * b;
  const auto product = product_around(b);
  GammaValues values;
  values.alpha = alpha;
  values.steps = small * kSteps;
  const auto inverse_x = 1.0 / (alpha + values.steps);
  values.sum = small * ((5.0 * b2 - 15.0) * b2 + 4.0) / product;
  values.inverse_small = small / tame;
  values.inverse_large = (1.0 - small) * inverse_x;
  values.log_x = where(is_small, log(tame + kSteps), log_alpha);
  values.log_first = small * log_alpha;
  values.log_product = small * log(product);
  const auto y = inverse_x * inverse_x;
  values.d = inverse_x * 0.5 + y * polynomial(y, coefficients_of(DoubleDigits::d()));
  values.l = inverse_x * polynomial(y, coefficients_of(DoubleDigits::l()));
  return values;
}

Value trigamma_second(const GammaValues& gamma) {
  const auto alpha = gamma.alpha;
  const auto is_small = gamma.steps > 0.0;
  const auto inverse_x = 1.0 / (alpha + gamma.steps);
  const auto y = inverse_x * inverse_x;
  const auto remainder = 0.5 * inverse_x + y * polynomial(y, coefficients_of(DoubleDigits::t()));
  const auto tame = where(is_small, alpha, 1.0);
  const auto b = tame + 3.0;
  const auto squares = gamma.sum * gamma.sum - b * (20.0 * b * b - 30.0) / product_around(b);
  const auto shifted = tame * (inverse_x * (1.0 + remainder) + squares);
  return where(is_small, tame * (shifted - 1.0) + 1.0, alpha * remainder);
}

}  // namespace priornet::graph
