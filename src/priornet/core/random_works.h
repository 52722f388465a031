#pragma once

#include <priornet/core/random_stream.h>

// What core/rows.h runs for random_draws.h: a piece of work for every pair of neighbours in a row.

namespace priornet {

struct DrawPlaces {
  float* values;  ///< [rows, columns]
  int64_t columns;
  uint64_t seed;
  int64_t first_row;

  PRIORNET_DEVICE int64_t pairs() const { return (columns + 1) / 2; }

  /// `draw` gives two numbers from a stream.
  template <class Draw>
  PRIORNET_DEVICE void fill(int64_t pair, const Draw& draw) const {
    const int64_t row = pair / pairs();
    const int64_t within = pair % pairs();
    RandomStream stream(seed, static_cast<uint64_t>(first_row + row), static_cast<uint64_t>(within));
    const RandomPair drawn = draw(stream);
    float* at = values + row * columns + 2 * within;
    at[0] = static_cast<float>(drawn.first);
    if (2 * within + 1 < columns) at[1] = static_cast<float>(drawn.second);
  }
};

struct NormalWork {
  DrawPlaces places;
  PRIORNET_DEVICE void operator()(int64_t pair) const {
    places.fill(pair, [](RandomStream& stream) { return stream.normals(); });
  }
};

struct UniformWork {
  DrawPlaces places;
  PRIORNET_DEVICE void operator()(int64_t pair) const {
    places.fill(pair, [](RandomStream& stream) { return stream.uniforms(); });
  }
};

}  // namespace priornet
