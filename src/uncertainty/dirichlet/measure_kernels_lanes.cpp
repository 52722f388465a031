// Built once for each instruction set, with PRIORNET_LANES doubles in a vector. It includes nothing that other files
// share as inline code: the linker might keep the copy made for instructions that this CPU does not have.
#include "uncertainty/dirichlet/measure_kernels.h"
#include "uncertainty/dirichlet/measure_row.h"
#include "uncertainty/dirichlet/row_block.h"

namespace priornet {

template <int kLanes, class T>
void measure_rows_in_lanes(const MeasureRows<T>& work, int64_t begin, int64_t end) {
  using Digits = typename DigitsOf<T>::Type;
  for_each_block<kLanes>(begin, end, [&](int64_t row, int count) {
    const RowBlock<kLanes, T> block(work.logits + row * work.classes, work.classes, count);
    const auto measures = measure_row<Digits, Lanes<kLanes>>(block, work.classes);
    const auto prediction = __builtin_convertvector(measures.prediction, Lanes<kLanes, int64_t>);
    store_lanes<kLanes>(prediction, work.prediction + row, 1, count);
    for (int m = 0; m < kDirichletMeasures; ++m) scatter<kLanes>(measures.values[m], work.measures[m] + row, 1, count);
  });
}

template <int kLanes, class T>
void measure_gradient_rows_in_lanes(const MeasureGradientRows<T>& work, int64_t begin, int64_t end) {
  using Digits = typename DigitsOf<T>::Type;
  for_each_block<kLanes>(begin, end, [&](int64_t row, int count) {
    const RowBlock<kLanes, T> block(work.logits + row * work.classes, work.classes, count);
    MeasureWeights<Lanes<kLanes>> weights;
    for (int m = 0; m < kDirichletMeasures; ++m)
      weights.values[m] = RowBlock<kLanes, T>(work.weights[m] + row, 1, count)(0);
    T* gradient = work.gradient + row * work.classes;
    measure_gradient_row<Digits, Lanes<kLanes>>(block, work.classes, weights, [&](int64_t c, Lanes<kLanes> value) {
      scatter<kLanes>(value, gradient + c, work.classes, count);
    });
  });
}

template void measure_rows_in_lanes<PRIORNET_LANES, float>(const MeasureRows<float>&, int64_t, int64_t);
template void measure_rows_in_lanes<PRIORNET_LANES, double>(const MeasureRows<double>&, int64_t, int64_t);
template void measure_gradient_rows_in_lanes<PRIORNET_LANES, float>(const MeasureGradientRows<float>&, int64_t,
                                                                    int64_t);
template void measure_gradient_rows_in_lanes<PRIORNET_LANES, double>(const MeasureGradientRows<double>&, int64_t,
                                                                     int64_t);

}  // namespace priornet
