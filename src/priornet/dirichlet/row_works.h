#pragma once

#include <priornet/dirichlet/density_row.h>
#include <priornet/dirichlet/kl_row.h>
#include <priornet/dirichlet/sample_row.h>
#include <priornet/dirichlet/scalar_row.h>

// What core/rows.h runs for each row, on the CPU and on a GPU. Pointers are to contiguous tensors.

namespace priornet {

template <class T>
struct KlWork {
  const T* p_logits;  ///< [rows, classes]
  const T* q_logits;
  int64_t classes;
  T* values;  ///< [rows]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> p{p_logits + row * classes}, q{q_logits + row * classes};
    values[row] = saturate<T>(KlRow<ScalarRow<T>>(p, q, classes).value());
  }
};

template <class T>
struct KlGradientWork {
  const T* p_logits;
  const T* q_logits;
  int64_t classes;
  const T* weights;  ///< [rows]: what comes down the graph
  T* p_gradient;     ///< [rows, classes]
  T* q_gradient;

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> p{p_logits + row * classes}, q{q_logits + row * classes};
    const double weight = static_cast<double>(weights[row]);
    KlRow<ScalarRow<T>>(p, q, classes).gradient([&](int64_t c, double in_p, double in_q) {
      p_gradient[row * classes + c] = saturate<T>(weight * in_p);
      q_gradient[row * classes + c] = saturate<T>(weight * in_q);
    });
  }
};

template <class T>
struct DensityWork {
  const T* logits;  ///< [rows, classes]
  const T* log_mu;  ///< [samples, rows, classes]
  int64_t rows, classes, samples;
  T* values;  ///< [samples, rows]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> z{logits + row * classes};
    const DensityRow<ScalarRow<T>> density(z, classes);
    for (int64_t s = 0; s < samples; ++s) {
      const ScalarRow<T> at{log_mu + (s * rows + row) * classes};
      values[s * rows + row] = saturate<T>(density.log_density(at));
    }
  }
};

struct DrawDensityWork {
  const double* logits;  ///< [rows, classes]
  const double* log_mu;  ///< [samples, rows, classes], draws
  int64_t rows, classes, samples;
  double* values;  ///< [samples, rows]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<double> z{logits + row * classes};
    const DensityRow<ScalarRow<double>> density(z, classes);
    for (int64_t s = 0; s < samples; ++s) values[s * rows + row] = density.constant();
    for (int64_t c = 0; c < classes; ++c) {
      const auto term = density.draw_term(c);
      for (int64_t s = 0; s < samples; ++s) values[s * rows + row] -= term(log_mu[(s * rows + row) * classes + c]);
    }
    for (int64_t s = 0; s < samples; ++s) values[s * rows + row] = saturate<double>(values[s * rows + row]);
  }
};

template <class T>
struct DensityGradientWork {
  const T* logits;
  const T* log_mu;
  int64_t rows, classes, samples;
  const T* weights;    ///< [samples, rows]: what comes down the graph
  T* gradient;         ///< [rows, classes]
  T* log_mu_gradient;  ///< [samples, rows, classes]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> z{logits + row * classes};
    const DensityRow<ScalarRow<T>> density(z, classes);
    for (int64_t c = 0; c < classes; ++c) {
      const auto slope = density.slope(c);
      double sum = 0;
      for (int64_t s = 0; s < samples; ++s) {
        const int64_t at = (s * rows + row) * classes + c;
        const double weight = static_cast<double>(weights[s * rows + row]);
        sum += weight * slope.in_logit(static_cast<double>(log_mu[at]));
        log_mu_gradient[at] = saturate<T>(weight * slope.in_log_mu());
      }
      gradient[row * classes + c] = saturate<T>(sum);
    }
  }
};

template <class T>
struct SampleWork {
  const T* logits;  ///< [rows, classes]
  int64_t rows, classes, samples;
  uint64_t seed;
  T* log_mu;  ///< [samples, rows, classes]

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> z{logits + row * classes};
    for (int64_t s = 0; s < samples; ++s) {
      T* out = log_mu + (s * rows + row) * classes;
      sample_log_row(z, classes, seed, row, s, [&](int64_t c, double value) { out[c] = saturate<T>(value); });
    }
  }
};

}  // namespace priornet
