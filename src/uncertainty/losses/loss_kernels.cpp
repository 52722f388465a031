#include "uncertainty/losses/loss_kernels.h"

namespace priornet {

template <class T>
void loss_rows(const LossRows<T>& work, int64_t begin, int64_t end, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { loss_rows_in_lanes<kLanes>(work, begin, end); });
}

template void loss_rows<float>(const LossRows<float>&, int64_t, int64_t, InstructionSet);
template void loss_rows<double>(const LossRows<double>&, int64_t, int64_t, InstructionSet);

}  // namespace priornet
