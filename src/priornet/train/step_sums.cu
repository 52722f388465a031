#include <priornet/train/step_sums.h>
#include <priornet/core/rows.cuh>

namespace priornet {

template void launch_rows<StepSumsWork>(const StepSumsWork&, int64_t, void*);

}  // namespace priornet
