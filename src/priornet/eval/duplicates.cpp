#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/parallel.h>
#include <priornet/eval/duplicates.h>

#include <bit>
#include <cstring>
#include <unordered_map>

namespace priornet {
namespace {

struct Hash128 {
  uint64_t low;
  uint64_t high;
  bool operator==(const Hash128&) const = default;
};

struct LowBits {
  size_t operator()(const Hash128& hash) const { return hash.low; }
};

// Two multiplicative hashes of 8 bytes a step. They need not withstand an enemy: what they find is compared.
Hash128 hash_of(const uint8_t* bytes, int64_t size) {
  Hash128 hash{0x243F6A8885A308D3, 0x13198A2E03707344};
  const auto take = [&](uint64_t word) {
    hash.low = std::rotl((hash.low ^ word) * 0x9E3779B97F4A7C15, 29);
    hash.high = std::rotl((hash.high + word) * 0xC2B2AE3D27D4EB4F, 31);
  };
  int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, 8);
    take(word);
  }
  uint64_t rest = 0;
  std::memcpy(&rest, bytes + i, static_cast<size_t>(size - i));
  take(rest);
  return hash;
}

// A set's inputs as rows of bytes.
struct ByteRows {
  explicit ByteRows(const torch::Tensor& inputs)
      : tensor(inputs.cpu().contiguous()),
        rows(tensor.size(0)),
        size(rows == 0 ? 0 : tensor.numel() / rows * static_cast<int64_t>(tensor.element_size())) {}

  const uint8_t* operator[](int64_t row) const { return static_cast<const uint8_t*>(tensor.data_ptr()) + row * size; }

  std::vector<Hash128> hashes() const {
    std::vector<Hash128> all(static_cast<size_t>(rows));
    parallel_rows(rows, size / 4, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) all[row] = hash_of((*this)[row], size);
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
  int64_t find(const Hash128& hash, const uint8_t* bytes) const {
    const auto [begin, end] = places_.equal_range(hash);
    for (auto place = begin; place != end; ++place)
      if (std::memcmp(bytes, rows_[place->second], static_cast<size_t>(rows_.size)) == 0) return place->second;
    return -1;
  }

  /// -1 if `row` is the first of its content.
  int64_t add(const Hash128& hash, int64_t row) {
    const auto first = find(hash, rows_[row]);
    if (first < 0) places_.emplace(hash, row);
    return first;
  }

 private:
  const ByteRows& rows_;
  std::unordered_multimap<Hash128, int64_t, LowBits> places_;
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

}  // namespace priornet
