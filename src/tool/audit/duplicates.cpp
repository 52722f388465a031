#include "tool/audit/duplicates.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "learning/base/file_io.h"
#include "uncertainty/core/checks.h"
#include "uncertainty/core/parallel.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

constexpr size_t kLength = std::tuple_size_v<ImageSignature>;
constexpr int64_t kFrequencies = 9;  ///< along an axis: the 44 whose sum is at most 8
constexpr int64_t kStride = 12;      ///< of rows of them, padded to whole vectors

struct Frequency {
  int64_t vertical;
  int64_t horizontal;
};

std::vector<Frequency> lowest_frequencies() {
  std::vector<Frequency> lowest;
  for (int64_t sum = 1; lowest.size() < kLength; ++sum)
    for (int64_t v = 0; v <= sum && lowest.size() < kLength; ++v) lowest.push_back({v, sum - v});
  return lowest;
}

// [length, kStride], orthonormal: cos(pi f (2 x + 1) / (2 length)), scaled. Zero for a frequency too high for the
// length.
std::vector<float> cosines(int64_t length) {
  const auto n = static_cast<double>(length);
  std::vector<float> basis(static_cast<size_t>(length * kStride));
  for (int64_t f = 0; f < std::min(kFrequencies, length); ++f)
    for (int64_t x = 0; x < length; ++x)
      basis[x * kStride + f] =
          static_cast<float>(std::sqrt((f == 0 ? 1 : 2) / n) *
                             std::cos(std::numbers::pi * static_cast<double>(f * (2 * x + 1)) / (2 * n)));
  return basis;
}

class Signer {
 public:
  explicit Signer(c10::IntArrayRef sizes)
      : channels_(sizes[1]),
        height_(sizes[2]),
        width_(sizes[3]),
        across_(cosines(width_)),
        down_(cosines(height_)),
        grey_(static_cast<size_t>(height_ * width_)) {}

  void operator()(const uint8_t* image, SignedImages& to, int64_t place) {
    const int64_t pixels = height_ * width_;
    const auto size = static_cast<double>(channels_ * pixels);
    int64_t squares = 0;
    std::fill(grey_.begin(), grey_.end(), 0.0F);
    for (int64_t c = 0; c < channels_; ++c)
      for (int64_t i = 0; i < pixels; ++i) {
        const int32_t value = image[c * pixels + i];
        squares += value * value;
        grey_[i] += static_cast<float>(value);
      }
    double sum = 0;
    for (const float y : grey_) sum += y;
    const double mean = sum / size;
    const double variance = std::max(0.0, static_cast<double>(squares) / size - mean * mean);
    to.means[place] = mean;
    to.deviations[place] = std::sqrt(variance);
    auto& signature = to.signatures[place];
    signature.fill(0);
    if (variance == 0) return;
    // The sum of C channels has sqrt(C) times the length of its part in the image.
    transform(static_cast<float>(1 / std::sqrt(static_cast<double>(channels_) * size * variance)),
              static_cast<float>(mean * static_cast<double>(channels_)), signature);
  }

 private:
  void transform(float scale, float mean, ImageSignature& signature) const {
    std::array<float, kFrequencies * kStride> plane{};
    for (int64_t y = 0; y < height_; ++y) {
      std::array<float, kStride> row{};
      for (int64_t x = 0; x < width_; ++x) {
        const float value = grey_[y * width_ + x] - mean;
        for (int64_t f = 0; f < kStride; ++f) row[f] += value * across_[x * kStride + f];
      }
      for (int64_t v = 0; v < kFrequencies; ++v) {
        const float weight = down_[y * kStride + v];
        for (int64_t f = 0; f < kStride; ++f) plane[v * kStride + f] += weight * row[f];
      }
    }
    for (size_t i = 0; i < kLength; ++i)
      signature[i] = scale * plane[frequencies_[i].vertical * kStride + frequencies_[i].horizontal];
  }

  int64_t channels_;
  int64_t height_;
  int64_t width_;
  std::vector<float> across_;
  std::vector<float> down_;
  std::vector<Frequency> frequencies_ = lowest_frequencies();
  std::vector<float> grey_;
};

std::array<size_t, kLength> most_varied_first(const std::vector<ImageSignature>& signatures) {
  std::array<double, kLength> sums{};
  std::array<double, kLength> squares{};
  for (const auto& signature : signatures)
    for (size_t i = 0; i < kLength; ++i) {
      sums[i] += signature[i];
      squares[i] += signature[i] * signature[i];
    }
  const auto count = static_cast<double>(std::max<size_t>(1, signatures.size()));
  const auto variance = [&](size_t i) { return squares[i] / count - sums[i] / count * (sums[i] / count); };
  std::array<size_t, kLength> order{};
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return variance(a) > variance(b); });
  return order;
}

}  // namespace

SignedImages sign_images(const torch::Tensor& images) {
  const auto bytes = images.cpu().contiguous();
  const auto* from = bytes.data_ptr<uint8_t>();
  const int64_t size = bytes.size(1) * bytes.size(2) * bytes.size(3);
  const auto count = static_cast<size_t>(bytes.size(0));
  SignedImages all{std::vector<ImageSignature>(count), std::vector<double>(count), std::vector<double>(count)};
  parallel_rows(bytes.size(0), size, [&](int64_t begin, int64_t end) {
    Signer sign(bytes.sizes());
    for (int64_t row = begin; row < end; ++row) sign(from + row * size, all, row);
  });
  return all;
}

SignatureIndex::SignatureIndex(const std::vector<ImageSignature>& signatures, float radius)
    : radius_(radius),
      side_(std::clamp<int64_t>(static_cast<int64_t>(2 / radius), 1, 64)),
      order_(most_varied_first(signatures)) {
  const auto number_of = [&](const ImageSignature& signature) {
    const auto cell = cell_of(by_variance(signature));
    return (cell[0] * side_ + cell[1]) * side_ + cell[2];
  };
  begins_.assign(static_cast<size_t>(side_ * side_ * side_) + 1, 0);
  for (const auto& signature : signatures) ++begins_[number_of(signature) + 1];
  for (size_t cell = 1; cell < begins_.size(); ++cell) begins_[cell] += begins_[cell - 1];
  auto next = begins_;
  places_.resize(signatures.size());
  sorted_.resize(signatures.size());
  for (size_t place = 0; place < signatures.size(); ++place) {
    const auto at = next[number_of(signatures[place])]++;
    places_[at] = static_cast<int64_t>(place);
    sorted_[at] = by_variance(signatures[place]);
  }
}

ImageSignature SignatureIndex::by_variance(const ImageSignature& signature) const {
  ImageSignature ordered;
  for (size_t i = 0; i < ordered.size(); ++i) ordered[i] = signature[order_[i]];
  return ordered;
}

// Cells are at least one radius wide, so that neighbours are enough.
SignatureIndex::CellIndex SignatureIndex::cell_of(const ImageSignature& by_variance) const {
  CellIndex cell{};
  for (size_t axis = 0; axis < cell.size(); ++axis)
    cell[axis] = std::clamp<int64_t>(static_cast<int64_t>((by_variance[axis] + 1) / 2 * static_cast<float>(side_)), 0,
                                     side_ - 1);
  return cell;
}

bool SignatureIndex::is_within(const ImageSignature& a, const ImageSignature& b) const {
  constexpr float kRounding = 1e-5F;
  const float limit = radius_ * radius_ + kRounding;
  float sum = 0;
  for (size_t i = 0; i < a.size(); i += 4) {
    for (size_t k = i; k < i + 4; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    if (sum > limit) return false;
  }
  return true;
}

namespace {

// A set's inputs as rows of bytes.
struct ByteRows {
  explicit ByteRows(const torch::Tensor& inputs)
      : tensor(inputs.cpu().contiguous()),
        rows(tensor.size(0)),
        size(rows == 0 ? 0 : tensor.numel() / rows * static_cast<int64_t>(tensor.element_size())) {}

  std::string_view operator[](int64_t row) const {
    return {static_cast<const char*>(tensor.data_ptr()) + row * size, static_cast<size_t>(size)};
  }

  std::vector<uint64_t> hashes() const {
    std::vector<uint64_t> all(static_cast<size_t>(rows));
    parallel_rows(rows, size / 4, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) all[row] = content_hash((*this)[row]);
    });
    return all;
  }

  torch::Tensor tensor;
  int64_t rows;
  int64_t size;  ///< of one, in bytes
};

// The first row of each content.
class FirstRows {
 public:
  explicit FirstRows(const ByteRows& rows) : rows_(rows) { places_.reserve(static_cast<size_t>(rows.rows)); }

  /// -1 if there is none.
  int64_t find(uint64_t hash, std::string_view bytes) const {
    const auto [begin, end] = places_.equal_range(hash);
    for (auto place = begin; place != end; ++place)
      if (bytes == rows_[place->second]) return place->second;
    return -1;
  }

  /// -1 if `row` is the first of its content.
  int64_t add(uint64_t hash, int64_t row) {
    const auto first = find(hash, rows_[row]);
    if (first < 0) places_.emplace(hash, row);
    return first;
  }

 private:
  const ByteRows& rows_;
  std::unordered_multimap<uint64_t, int64_t> places_;  ///< by hash; matches are compared byte by byte
};

}  // namespace

std::vector<DuplicatePair> exact_duplicates(const torch::Tensor& in, const torch::Tensor& out) {
  const bool alike = in.dim() >= 1 && in.dim() == out.dim() && in.scalar_type() == out.scalar_type() &&
                     in.sizes().slice(1) == out.sizes().slice(1);
  if (!alike)
    throw ArgumentError(
        c10::str("exact_duplicates: inputs of IN and OUT should be alike, found ", in.sizes(), " and ", out.sizes()));
  const ByteRows in_rows(in);
  const ByteRows out_rows(out);
  const auto in_hashes = in_rows.hashes();
  const auto out_hashes = out_rows.hashes();
  FirstRows firsts(in_rows);
  for (int64_t row = 0; row < in_rows.rows; ++row) firsts.add(in_hashes[row], row);
  std::vector<DuplicatePair> pairs;
  for (int64_t row = 0; row < out_rows.rows; ++row)
    if (const auto first = firsts.find(out_hashes[row], out_rows[row]); first >= 0) pairs.push_back({row, first});
  return pairs;
}

std::vector<DuplicatePair> repeated_inputs(const torch::Tensor& inputs) {
  const ByteRows rows(inputs);
  const auto hashes = rows.hashes();
  FirstRows firsts(rows);
  std::vector<DuplicatePair> pairs;
  for (int64_t row = 0; row < rows.rows; ++row)
    if (const auto first = firsts.add(hashes[row], row); first >= 0) pairs.push_back({row, first});
  return pairs;
}

namespace {

// The most look-alikes per image that are compared pixel by pixel: sets that all look alike should not cost N x M
// images.
constexpr int64_t kComparedAtMost = 1000;

double mean_product(const uint8_t* a, const uint8_t* b, int64_t size) {
  constexpr int64_t kBlock = 32768;  // a uint32 can hold the sum of this many products
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
  // For images of mean 0 and length 1, |a - b|^2 = 2 - 2 a.b; signatures are no farther apart.
  const SignatureIndex index(ins.signatures, static_cast<float>(std::sqrt(2 - 2 * options.correlation)));
  std::vector<int64_t> matches(static_cast<size_t>(out.size(0)), -1);
  parallel_for(0, out.size(0), 64, [&](int64_t begin, int64_t end) {
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
