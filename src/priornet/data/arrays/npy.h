#pragma once

#include <priornet/data/arrays/npy_header.h>

#include <filesystem>

// Arrays in NumPy's .npy format: float32, float64, int32, int64, uint8; little-endian, C order.

namespace priornet {

/// The array of a file, on the CPU. DataError, which names the file, if it is empty, is not .npy, is in Fortran order,
/// has another dtype, or holds fewer or more bytes than its header promises. Nothing is allocated that a header only
/// claims.
torch::Tensor read_npy(const std::filesystem::path& path);

/// The same from a stream, which opens the messages with its name.
torch::Tensor read_npy(ByteStream& bytes);

/// Writes a tensor of any device, whole or not at all.
void write_npy(const std::filesystem::path& path, const torch::Tensor& values);

}  // namespace priornet
