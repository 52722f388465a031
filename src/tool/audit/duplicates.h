#pragma once

#include <torch/types.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace priornet {

/// What an image looks like from afar: the lowest frequencies of its cosine transform, lowest first, without the mean,
/// after the image is brought to mean 0 and length 1 (docs/math.md, section 8). Another brightness or contrast does not
/// change it; two signatures are never farther apart than the two images.
using ImageSignature = std::array<float, 44>;

struct SignedImages {
  std::vector<ImageSignature> signatures;
  std::vector<double> means;       ///< over all values, in grey levels
  std::vector<double> deviations;  ///< likewise; an image without any has a signature of zeros
};

/// The signatures of images uint8 [N, C, H, W]. Parallel over images.
SignedImages sign_images(const torch::Tensor& images);

/// Finds the signatures within a radius of another, by a grid over the three numbers that vary most, in cells of one
/// radius.
class SignatureIndex {
 public:
  /// The radius is in (0, 2].
  SignatureIndex(const std::vector<ImageSignature>& signatures, float radius);

  /// Calls visit(place) for each signature within the radius, until visit returns true.
  template <class Visit>
  void find(const ImageSignature& signature, const Visit& visit) const {
    const auto wanted = by_variance(signature);
    const auto centre = cell_of(wanted);
    for (int64_t i = std::max<int64_t>(0, centre[0] - 1); i <= std::min(side_ - 1, centre[0] + 1); ++i)
      for (int64_t j = std::max<int64_t>(0, centre[1] - 1); j <= std::min(side_ - 1, centre[1] + 1); ++j) {
        const auto row = (i * side_ + j) * side_;
        const auto end = begins_[row + std::min(side_ - 1, centre[2] + 1) + 1];
        for (auto at = begins_[row + std::max<int64_t>(0, centre[2] - 1)]; at < end; ++at)
          if (is_within(wanted, sorted_[at]) && visit(places_[at])) return;
      }
  }

 private:
  using CellIndex = std::array<int64_t, 3>;

  ImageSignature by_variance(const ImageSignature& signature) const;
  CellIndex cell_of(const ImageSignature& by_variance) const;
  bool is_within(const ImageSignature& a, const ImageSignature& b) const;

  float radius_;
  int64_t side_;                                                 ///< cells along an axis
  std::array<size_t, std::tuple_size_v<ImageSignature>> order_;  ///< of the numbers, those that vary most first
  std::vector<int64_t> begins_;                                  ///< of each cell in places_
  std::vector<int64_t> places_;                                  ///< by cell
  std::vector<ImageSignature> sorted_;                           ///< by cell, each in that order
};

/// An input of OUT and one of IN that it repeats; in a single set, an input and an earlier one.
struct DuplicatePair {
  int64_t out = 0;
  int64_t in = 0;
};

/// Inputs [M, ...] of the same dtype and shape that have the same bytes as one of the earlier [N, ...]: one pair for
/// each of them, in order, with the first match. Found by a hash, and compared byte by byte.
std::vector<DuplicatePair> exact_duplicates(const torch::Tensor& in, const torch::Tensor& out);

/// The inputs that repeat an earlier one of the same set.
std::vector<DuplicatePair> repeated_inputs(const torch::Tensor& inputs);

struct NearDuplicateOptions {
  /// Two images are near if the correlation of their values, over all channels, is at least this: 1 for a copy, also
  /// with another brightness or contrast, and about 0 for unrelated images. In [0, 1).
  double correlation = 0.99;
  /// Images whose standard deviation is smaller, in grey levels, are too flat to recognise: never near.
  double flat = 2;
};

/// Images of OUT that look like one of IN, uint8 [M, C, H, W] and [N, C, H, W]: one pair for each of them, in order,
/// with one of its matches; exact duplicates are among them, unless flat. Found by their signatures, which miss none;
/// at most 1000 look-alikes per image are compared.
std::vector<DuplicatePair> near_duplicates(const torch::Tensor& in, const torch::Tensor& out,
                                           const NearDuplicateOptions& options = {});

}  // namespace priornet
