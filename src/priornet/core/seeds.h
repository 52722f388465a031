#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <string_view>

// Everything random in a run comes from one seed: each use draws from a stream of its own, named by its purpose, so
// that adding a use or changing the order of two leaves the others as they were.

namespace priornet {

/// A CPU generator; the same seed gives the same draws.
at::Generator make_generator(uint64_t seed);

/// The seed of the stream `purpose` of a run's seed.
uint64_t derive_seed(uint64_t seed, std::string_view purpose);

}  // namespace priornet
