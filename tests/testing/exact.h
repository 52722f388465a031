#pragma once

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// The measures and divergences at 50 digits, from their textbook formulas: the fast functions are compared with them.

namespace priornet::exact {

using Real = boost::multiprecision::cpp_bin_float_50;
using Row = std::vector<Real>;

/// Remembers values: a function at 50 digits costs far more than a table lookup, and sums over classes and finite
/// differences ask for the same values many times.
template <Real (*function)(const Real&)>
Real remembered(const Real& x) {
  static std::map<Real, Real> known;
  if (known.size() > 100'000) known.clear();
  const auto [place, is_new] = known.try_emplace(x);
  if (is_new) place->second = function(x);
  return place->second;
}
inline Real lgamma_of(const Real& x) { return boost::math::lgamma(x); }
inline Real digamma_of(const Real& x) { return boost::math::digamma(x); }
inline Real exp_of(const Real& x) { return exp(x); }
inline Real lgamma(const Real& x) { return remembered<lgamma_of>(x); }
inline Real digamma(const Real& x) { return remembered<digamma_of>(x); }

inline Row concentrations(const Row& logits) {
  Row alpha;
  for (const auto& z : logits) alpha.push_back(remembered<exp_of>(z));
  return alpha;
}

inline Real sum(const Row& values) {
  Real total = 0;
  for (const auto& value : values) total += value;
  return total;
}

/// By the names of the table of measures.
using Measures = std::map<std::string, Real>;

inline Measures measures(const Row& logits) {
  const Row alpha = concentrations(logits);
  const Real alpha0 = sum(alpha);
  const Real K = static_cast<double>(logits.size());
  Measures row{{"precision", alpha0}};
  for (const auto& a : alpha) {
    const Real p = a / alpha0;
    if (p > row["max_prob"]) row["max_prob"] = p;
    row["entropy"] -= p * log(p);
    row["expected_entropy"] -= p * (digamma(a + 1) - digamma(alpha0 + 1));
    row["differential_entropy"] += lgamma(a) - (a - 1) * digamma(a);
  }
  row["mutual_information"] = row["entropy"] - row["expected_entropy"];
  row["differential_entropy"] += -lgamma(alpha0) + (alpha0 - K) * digamma(alpha0);
  // From its definition: E[sum mu ln mu] - sum E[mu] E[ln mu'].
  for (const auto& a : alpha)
    row["expected_pairwise_kl"] +=
        a / alpha0 * ((digamma(a + 1) - digamma(alpha0 + 1)) - (digamma(a) - digamma(alpha0)));
  for (const auto& a : alpha) {
    row["epistemic_variance"] += a * (alpha0 - a) / (alpha0 * alpha0 * (alpha0 + 1));
    row["aleatoric_variance"] += a * (alpha0 - a) / (alpha0 * (alpha0 + 1));
  }
  return row;
}

/// KL[Dir(alpha) || Dir(beta)].
inline Real kl_divergence(const Row& alpha, const Row& beta) {
  const Real alpha0 = sum(alpha);
  Real kl = lgamma(alpha0) - lgamma(sum(beta));
  for (size_t c = 0; c < alpha.size(); ++c)
    kl += lgamma(beta[c]) - lgamma(alpha[c]) + (alpha[c] - beta[c]) * (digamma(alpha[c]) - digamma(alpha0));
  return kl;
}

/// d function / d logits[c], by central differences so small that at 50 digits they are exact to 1e-20.
template <class Function>
Real derivative(const Function& function, Row logits, size_t c) {
  const Real step = Real("1e-15");
  const Real z = logits[c];
  logits[c] = z + step;
  const Real above = function(logits);
  logits[c] = z - step;
  return (above - function(logits)) / (2 * step);
}

}  // namespace priornet::exact
