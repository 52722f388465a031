#include <priornet/losses/loss_works.h>
#include <priornet/core/rows.cuh>

namespace priornet {

template void launch_rows<LossWork<float>>(const LossWork<float>&, int64_t, void*);
template void launch_rows<LossWork<double>>(const LossWork<double>&, int64_t, void*);

}  // namespace priornet
