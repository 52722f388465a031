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
  tensors.max_prob[row] = saturate<T>(measures.max_prob);
  tensors.entropy[row] = saturate<T>(measures.entropy);
  tensors.expected_entropy[row] = saturate<T>(measures.expected_entropy);
  tensors.mutual_information[row] = saturate<T>(measures.mutual_information);
  tensors.differential_entropy[row] = saturate<T>(measures.differential_entropy);
  tensors.precision[row] = saturate<T>(measures.precision);
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
    const MeasureWeights<double> weights{static_cast<double>(tensors.max_prob[row]),
                                         static_cast<double>(tensors.entropy[row]),
                                         static_cast<double>(tensors.expected_entropy[row]),
                                         static_cast<double>(tensors.mutual_information[row]),
                                         static_cast<double>(tensors.differential_entropy[row]),
                                         static_cast<double>(tensors.precision[row])};
    T* gradient = tensors.gradient + row * tensors.classes;
    measure_gradient_row<typename DigitsOf<T>::Type, double>(
        logits, tensors.classes, weights, [&](int64_t c, double value) { gradient[c] = saturate<T>(value); });
  }
};

}  // namespace priornet
