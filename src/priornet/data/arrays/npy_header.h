#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// The part of NumPy's array format that stands before the data: magic, version, and a Python dict in text.

namespace priornet {

/// float32 (<f4), float64 (<f8), int32 (<i4) or int64 (<i8), little-endian and in C order: the arrays we read and
/// write.
struct NpyHeader {
  torch::ScalarType dtype = torch::kFloat64;
  std::vector<int64_t> shape;
  int64_t bytes = 0;  ///< of data that follow
};

/// Reads up to `size` bytes to `to`, fewer only at the end, and returns how many.
using ByteSource = std::function<size_t(void* to, size_t size)>;

/// Reads a header of version 1, 2 or 3 and leaves the source at the first byte of data. Whatever is wrong with it,
/// or is not supported, throws DataError; `name` (a file, or an array in a file) opens the message.
NpyHeader read_npy_header(std::string_view name, const ByteSource& source);

/// A version 1 header with magic and padding, as NumPy writes it. Other dtypes throw ArgumentError.
std::string format_npy_header(torch::ScalarType dtype, const std::vector<int64_t>& shape);

/// "shape [10, 3] of <f8", for messages.
std::string describe(const NpyHeader& header);

}  // namespace priornet
