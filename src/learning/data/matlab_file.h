#pragma once

#include <torch/types.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "learning/data/byte_stream.h"

namespace priornet {

using EightRows = std::array<uint64_t, 8>;

/// Transposes 8x8 bytes, a row in each number, by swapping ever smaller blocks across the diagonal.
inline void transpose_bytes(EightRows& rows) {
  static_assert(std::endian::native == std::endian::little, "the first byte of a row is its lowest");
  constexpr std::array<uint64_t, 3> kMasks = {0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff};
  for (size_t step = 0; step < 3; ++step) {
    const size_t distance = 4 >> step;
    for (size_t row = 0; row < 8; ++row) {
      if ((row & distance) != 0) continue;
      auto& upper = rows[row];
      auto& lower = rows[row + distance];
      const uint64_t swapped = ((upper >> (8 * distance)) ^ lower) & kMasks[step];
      lower ^= swapped;
      upper ^= swapped << (8 * distance);
    }
  }
}

/// Transposes Side x Side bytes in place; Side is a multiple of 8.
template <int64_t Side>
void transpose_square(uint8_t* square) {
  static_assert(Side % 8 == 0);
  const auto load = [&](int64_t row, int64_t column) {
    EightRows block;
    for (int64_t i = 0; i < 8; ++i) std::memcpy(&block[static_cast<size_t>(i)], square + (row + i) * Side + column, 8);
    transpose_bytes(block);
    return block;
  };
  const auto store = [&](const EightRows& block, int64_t row, int64_t column) {
    for (int64_t i = 0; i < 8; ++i) std::memcpy(square + (row + i) * Side + column, &block[static_cast<size_t>(i)], 8);
  };
  for (int64_t row = 0; row < Side; row += 8) {
    store(load(row, row), row, row);
    for (int64_t column = row + 8; column < Side; column += 8) {
      const auto upper = load(row, column);
      store(load(column, row), row, column);
      store(upper, column, row);
    }
  }
}

// MATLAB's MAT-file of level 5, little-endian: full real matrices of numbers, plain or compressed.

/// A matrix whose values are still to be read. They lie in MATLAB's order: the first dimension runs fastest.
class MatMatrix {
 public:
  MatMatrix(std::string name, std::vector<int64_t> shape, ByteStream& bytes)
      : name_(std::move(name)), shape_(std::move(shape)), bytes_(bytes) {}

  const std::string& name() const { return name_; }
  const std::vector<int64_t>& shape() const { return shape_; }

  /// The values, flat, in the type they are stored in, which may be narrower than the matrix's own: uint8, int8, int16,
  /// int32, float32 or float64. Read straight into the tensor's memory.
  torch::Tensor read_values();

  bool was_read() const { return was_read_; }

 private:
  std::string name_;
  std::vector<int64_t> shape_;
  ByteStream& bytes_;
  bool was_read_ = false;
};

using MatVisitor = std::function<void(MatMatrix& matrix)>;

/// Visits the matrices of numbers in the order of the file. Matrices that the visitor does not read are skipped, and so
/// are variables of other kinds: text, cells, structures, sparse or complex. DataError that names the stream, the
/// variable and the byte if the file is not as its headers say.
void visit_mat5(ByteStream& bytes, const MatVisitor& visitor);

}  // namespace priornet
