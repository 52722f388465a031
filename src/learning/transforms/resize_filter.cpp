#include "learning/transforms/resize_filter.h"

namespace priornet {

void filter_columns(const ColumnFilter& work, const RowWeights& weights, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { filter_columns_in_lanes<kLanes>(work, weights); });
}

void transpose(const Transposition& work, InstructionSet instructions) {
  with_lanes(instructions, [&]<int kLanes>() { transpose_in_lanes<kLanes>(work); });
}

}  // namespace priornet
