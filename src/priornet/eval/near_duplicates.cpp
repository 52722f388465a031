#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/eval/duplicates.h>
#include <priornet/eval/image_signatures.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

// Look-alikes that are compared pixel by pixel, an image: sets that all look alike should not cost N x M images.
constexpr int64_t kComparedAtMost = 1000;

double mean_product(const uint8_t* a, const uint8_t* b, int64_t size) {
  constexpr int64_t kBlock = 32768;  // of products that a uint32 holds the sum of
  double sum = 0;
  for (int64_t begin = 0; begin < size; begin += kBlock) {
    uint32_t block = 0;
    for (int64_t i = begin; i < std::min(size, begin + kBlock); ++i) block += uint32_t{a[i]} * uint32_t{b[i]};
    sum += block;
  }
  return sum / static_cast<double>(size);
}

}  // namespace

std::vector<DuplicatePair> near_duplicates(const torch::Tensor& in, const torch::Tensor& out,
                                           const NearDuplicateOptions& options) {
  const bool images = in.scalar_type() == torch::kUInt8 && out.scalar_type() == torch::kUInt8 && in.dim() == 4 &&
                      out.dim() == 4 && in.sizes().slice(1) == out.sizes().slice(1);
  if (!images)
    throw ArgumentError(c10::str("near_duplicates: IN and OUT should be images uint8 [N, C, H, W] of one shape, found ",
                                 in.sizes(), " and ", out.sizes()));
  check_range("near_duplicates", "correlation", options.correlation >= 0 && options.correlation < 1, "in [0, 1)",
              options.correlation);
  const int64_t size = in.size(1) * in.size(2) * in.size(3);
  const auto in_bytes = in.cpu().contiguous();
  const auto out_bytes = out.cpu().contiguous();
  const auto ins = sign_images(in_bytes);
  const auto outs = sign_images(out_bytes);
  const auto is_near = [&](int64_t o, int64_t i) {
    if (ins.deviations[i] < options.flat) return false;
    const double product =
        mean_product(out_bytes.data_ptr<uint8_t>() + o * size, in_bytes.data_ptr<uint8_t>() + i * size, size);
    return product - outs.means[o] * ins.means[i] >= options.correlation * outs.deviations[o] * ins.deviations[i];
  };
  // Of images of mean 0 and length 1, |a - b|^2 = 2 - 2 a.b; signatures are no farther apart.
  const SignatureIndex index(ins.signatures, static_cast<float>(std::sqrt(2 - 2 * options.correlation)));
  std::vector<int64_t> matches(static_cast<size_t>(out.size(0)), -1);
  at::parallel_for(0, out.size(0), 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      if (outs.deviations[row] < options.flat) continue;
      int64_t compared = 0;
      index.find(outs.signatures[row], [&](int64_t place) {
        if (is_near(row, place)) matches[row] = place;
        return matches[row] >= 0 || ++compared == kComparedAtMost;
      });
    }
  });
  std::vector<DuplicatePair> pairs;
  for (size_t row = 0; row < matches.size(); ++row)
    if (matches[row] >= 0) pairs.push_back({static_cast<int64_t>(row), matches[row]});
  return pairs;
}

}  // namespace priornet
