#include "learning/transforms/augmented_pixel.h"

#include "uncertainty/core/rows.cuh"

namespace priornet {

template void launch_rows<AugmentWork>(const AugmentWork&, int64_t, void*);

}  // namespace priornet
