#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

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

}  // namespace priornet
