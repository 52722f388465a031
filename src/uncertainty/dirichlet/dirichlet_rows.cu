#include "uncertainty/dirichlet/dirichlet_rows.h"

#include "uncertainty/core/rows.cuh"
#include "uncertainty/dirichlet/measure_gpu.h"

namespace priornet {

#define PRIORNET_LAUNCH(Work)                                                 \
  template void launch_rows<Work<float>>(const Work<float>&, int64_t, void*); \
  template void launch_rows<Work<double>>(const Work<double>&, int64_t, void*)

PRIORNET_LAUNCH(MeasureGradientWork);
PRIORNET_LAUNCH(KlWork);
PRIORNET_LAUNCH(KlGradientWork);
PRIORNET_LAUNCH(DensityWork);
PRIORNET_LAUNCH(DensityGradientWork);
PRIORNET_LAUNCH(SampleWork);
template void launch_rows<DrawDensityWork>(const DrawDensityWork&, int64_t, void*);

}  // namespace priornet
