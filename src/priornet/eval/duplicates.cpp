#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/parallel.h>
#include <priornet/data/files/content_hash.h>
#include <priornet/eval/duplicates.h>

#include <string_view>
#include <unordered_map>

namespace priornet {
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
  std::unordered_multimap<uint64_t, int64_t> places_;  ///< by hash; what it finds is compared
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
