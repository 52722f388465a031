#pragma once

#include <priornet/core/random_stream.h>
#include <priornet/dirichlet/row.h>

// Draws from a Dirichlet in logarithms: mu = G / sum G with G_c ~ Gamma(alpha_c).

namespace priornet {

/// ln G, G ~ Gamma(alpha), by Marsaglia and Tsang's method (2000); below 1 by G(alpha) = G(alpha + 1) U^(1/alpha). NaN
/// of a NaN.
PRIORNET_DEVICE inline double log_gamma_draw(double log_alpha, RandomStream& random) {
  if (log_alpha != log_alpha) return log_alpha;  // no draw would ever be accepted
  const double alpha = ::exp(log_alpha);
  double boost = 0;
  double shape = alpha;
  if (alpha < 1) {
    boost = ::log(random.uniform()) / alpha;
    shape = alpha + 1;
  }
  const double d = shape - 1.0 / 3;
  const double scale = 1 / ::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    if (scale * x <= -1) continue;
    const double log_v = 3 * ::log1p(scale * x);
    // ln U < x^2/2 + d (1 - v + ln v), where for large d the bracket is far smaller than its terms.
    if (::log(random.uniform()) < 0.5 * x * x - d * surplus(-log_v)) return boost + ::log(d) + log_v;
  }
}

/// Calls store(c, ln mu_c) for every class. Each class has a random stream of its own, which is run twice: once for the
/// sum, once for the values.
template <class Load, class Store>
PRIORNET_DEVICE inline void sample_log_row(const Load& logits, int64_t classes, uint64_t seed, int64_t row,
                                           int64_t sample, const Store& store) {
  const auto draw = [&](int64_t c) {
    RandomStream random(seed, static_cast<uint64_t>(row), static_cast<uint64_t>(sample * classes + c));
    return log_gamma_draw(clamp_logit(logits(c)), random);
  };
  double top = draw(0);
  double sum = 1;  // of e^(draw - top)
  for (int64_t c = 1; c < classes; ++c) {
    const double value = draw(c);
    if (value > top) {
      sum = sum * ::exp(top - value) + 1;
      top = value;
    } else {
      sum += ::exp(value - top);
    }
  }
  const double log_sum = top + ::log(sum);
  for (int64_t c = 0; c < classes; ++c) store(c, draw(c) - log_sum);
}

}  // namespace priornet
