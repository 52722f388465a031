#pragma once

#include <priornet/learning/resize.h>

#include <cstdint>
#include <vector>

namespace priornet {

/// What each place along one axis of a resized image is made of: the fixed-point weights of a run of source places.
struct FilterWeights {
  static constexpr int kFractionBits = 22;  ///< 8 bits of grey, 2 for overshoot and sign, in 32

  int64_t taps = 0;             ///< room for the weights of one place
  std::vector<int64_t> first;   ///< [size]: where the run begins
  std::vector<int64_t> count;   ///< [size]: its length, at most taps
  std::vector<int32_t> weight;  ///< [size, taps], in units of 2^-22; those of a place sum to 1
};

/// The triangle (bilinear) or Keys's cubic with a = -1/2 (bicubic), widened by the ratio where the axis shrinks, cut
/// off at the border and scaled to sum to 1: Pillow's own weights, bit for bit. Not for kNearest.
FilterWeights filter_weights(int64_t from, int64_t to, Resampling resampling);

}  // namespace priornet
