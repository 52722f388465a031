#pragma once

#include <string>
#include <utility>
#include <vector>

#include "deploy/export/graph.h"

// The gamma function and its derivatives in a graph, which has no operators for them: the pieces of dirichlet/gamma.h,
// which do not cancel, from the same polynomials. docs/math.md, section 1, has the formulas.

namespace priornet::graph {

struct GammaValues {
  Value alpha;          ///< a
  Value log_x;          ///< x = a from 6 on, a + 6 below
  Value d;              ///< D(x)
  Value l;              ///< L(x)
  Value steps;          ///< x - a
  Value log_first;      ///< ln a below 6, else 0
  Value log_product;    ///< ln [(a + 1) ... (a + 5)] below 6, else 0
  Value sum;            ///< 1/(a + 1) + ... + 1/(a + 5) below 6, else 0
  Value inverse_small;  ///< 1/a below 6, else 0
  Value inverse_large;  ///< 1/a from 6 on, else 0

  Value remainder() const { return d + (sum + inverse_small); }                            ///< ln x - psi(a)
  Value psi() const { return log_x - remainder(); }                                        ///< psi(a)
  Value big_d(const Value& log_alpha) const { return (log_alpha - log_x) + remainder(); }  ///< D(a)
  /// psi(a + 1) - reference
  Value psi_next(const Value& reference) const { return (log_x - reference) - d - sum + inverse_large; }
  /// M(a), and without its term a (ln x - ln a).
  Value m_without_log_alpha() const { return (steps - 0.5) * log_x - steps + l - log_first - log_product; }
  Value m(const Value& log_alpha) const { return alpha * (log_x - log_alpha) + m_without_log_alpha(); }
};

/// For alpha = e^log_alpha, float64, |log_alpha| <= 600.
GammaValues gamma_values(const Value& alpha, const Value& log_alpha);

/// a^2 psi'(a) - a of the same argument.
Value trigamma_second(const GammaValues& gamma);

using NamedValues = std::vector<std::pair<std::string, Value>>;

/// The measures of scores_of_logits (scoring.h), float64 [N] each, of float64 logits: [N, K], or [M, N, K] of
/// `members` = M > 0. Without I[mu, theta], which is an estimate from draws.
NamedValues measure_values(const Value& logits, bool dirichlet, int64_t members, int64_t classes);

/// e^logits over their sum, along the last axis.
Value softmax(const Value& logits);

/// Mean KL[Dir_i || Dir_j] over all pairs of members, float64 [N], of float64 logits [M, N, K].
Value mean_divergence(const Value& logits, int64_t classes);

}  // namespace priornet::graph
