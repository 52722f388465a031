#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace priornet {

/// An input of OUT and one of IN that it repeats; in a single set, an input and an earlier one.
struct DuplicatePair {
  int64_t out = 0;
  int64_t in = 0;
};

/// Inputs [M, ...] of one dtype and shape that are the same bytes as one of the earlier [N, ...]: a pair for each of
/// them, in order, with the first match. Found by a 128-bit hash and compared byte by byte.
std::vector<DuplicatePair> exact_duplicates(const torch::Tensor& in, const torch::Tensor& out);

/// The inputs that repeat an earlier one of the same set.
std::vector<DuplicatePair> repeated_inputs(const torch::Tensor& inputs);

struct NearDuplicateOptions {
  /// Two images are near if the correlation of their values, over all channels, is at least this: 1 for a copy, also
  /// with another brightness or contrast, and about 0 for unrelated images. In [0, 1).
  double correlation = 0.99;
  /// Images whose standard deviation is smaller, in grey levels, show nothing to recognise them by: never near.
  double flat = 2;
};

/// Images of OUT that look like one of IN, uint8 [M, C, H, W] and [N, C, H, W]: a pair for each of them, in order, with
/// one of its matches; exact duplicates are among them, unless flat. Found by their signatures (image_signatures.h),
/// which miss none; of one image no more than 1000 look-alikes are compared.
std::vector<DuplicatePair> near_duplicates(const torch::Tensor& in, const torch::Tensor& out,
                                           const NearDuplicateOptions& options = {});

}  // namespace priornet
