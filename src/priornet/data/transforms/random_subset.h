#pragma once

#include <priornet/data/dataset.h>

#include <cstdint>

namespace priornet {

/// `count` rows of the set, drawn by seed without replacement, in the order they have in the set. DataError if it has
/// fewer.
Dataset random_subset(const Dataset& set, int64_t count, uint64_t seed);

}  // namespace priornet
