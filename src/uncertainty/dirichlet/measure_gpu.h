#pragma once

#include "uncertainty/dirichlet/logit_row.h"
#include "uncertainty/dirichlet/measure_kernels.h"
#include "uncertainty/dirichlet/measure_row.h"

// The measures row by row, for a GPU; on the CPU they are computed in lanes.

namespace priornet {

template <class T>
PRIORNET_DEVICE inline void store_measures(const MeasureRows<T>& tensors, int64_t row,
                                           const RowMeasures<double>& measures) {
  tensors.prediction[row] = static_cast<int64_t>(measures.prediction);
  for (int m = 0; m < kDirichletMeasures; ++m) tensors.measures[m][row] = saturate<T>(measures.values[m]);
}

template <class T>
struct MeasureWork {
  MeasureRows<T> tensors;

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> logits{tensors.logits + row * tensors.classes};
    store_measures(tensors, row, measure_row<typename DigitsOf<T>::Type, double>(logits, tensors.classes));
  }
};

/// All rows on the GPU, by the kernels that suit their length and type; `stream` is a cudaStream_t.
template <class T>
void launch_measures(const MeasureRows<T>& tensors, void* stream);

template <class T>
struct MeasureGradientWork {
  MeasureGradientRows<T> tensors;

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const ScalarRow<T> logits{tensors.logits + row * tensors.classes};
    MeasureWeights<double> weights;
    for (int m = 0; m < kDirichletMeasures; ++m) weights.values[m] = static_cast<double>(tensors.weights[m][row]);
    T* gradient = tensors.gradient + row * tensors.classes;
    measure_gradient_row<typename DigitsOf<T>::Type, double>(
        logits, tensors.classes, weights, [&](int64_t c, double value) { gradient[c] = saturate<T>(value); });
  }
};

}  // namespace priornet
