#include <priornet/data/transforms/augment_work.h>
#include <priornet/core/rows.cuh>

namespace priornet {

template void launch_rows<AugmentWork>(const AugmentWork&, int64_t, void*);

}  // namespace priornet
