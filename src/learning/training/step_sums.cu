#include "learning/training/step_sums.h"

#include "uncertainty/core/rows.cuh"

namespace priornet {

template void launch_rows<StepSumsWork>(const StepSumsWork&, int64_t, void*);

}  // namespace priornet
