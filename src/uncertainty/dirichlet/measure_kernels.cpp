#include "uncertainty/dirichlet/measure_kernels.h"

namespace priornet {

template <class T>
void measure_rows(const MeasureRows<T>& work, int64_t begin, int64_t end, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { measure_rows_in_lanes<kLanes>(work, begin, end); });
}

template <class T>
void measure_gradient_rows(const MeasureGradientRows<T>& work, int64_t begin, int64_t end,
                           InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { measure_gradient_rows_in_lanes<kLanes>(work, begin, end); });
}

template void measure_rows<float>(const MeasureRows<float>&, int64_t, int64_t, InstructionSet);
template void measure_rows<double>(const MeasureRows<double>&, int64_t, int64_t, InstructionSet);
template void measure_gradient_rows<float>(const MeasureGradientRows<float>&, int64_t, int64_t, InstructionSet);
template void measure_gradient_rows<double>(const MeasureGradientRows<double>&, int64_t, int64_t, InstructionSet);

}  // namespace priornet
