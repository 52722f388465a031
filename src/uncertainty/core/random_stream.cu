#include "uncertainty/core/random_stream.h"

#include "uncertainty/core/rows.cuh"

namespace priornet {

template void launch_rows<NormalWork>(const NormalWork&, int64_t, void*);
template void launch_rows<UniformWork>(const UniformWork&, int64_t, void*);

}  // namespace priornet
