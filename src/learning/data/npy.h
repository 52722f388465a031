#pragma once

#include <priornet/uncertainty/named_tensor.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "learning/data/byte_stream.h"

// The part of NumPy's array format that stands before the data: magic, version, and a Python dict in text.

namespace priornet {

/// float32 (<f4), float64 (<f8), int32 (<i4), int64 (<i8) or uint8 (|u1), little-endian and in C order: the arrays we
/// read and write. read_npy() also takes float16 (<f2), bfloat16 as ml_dtypes leaves it (<V2, |V2), and Fortran order.
struct NpyHeader {
  torch::ScalarType dtype = torch::kFloat64;
  bool is_unsigned = false;  ///< of more than 8 bits; `dtype` is then the signed type of that size
  std::vector<int64_t> shape;
  bool fortran_order = false;  ///< the first index runs fastest
};

/// What a header may say.
enum class NpyForms {
  kPlain,  ///< what we write
  kAll     ///< also half precision, integers of other sizes, bool and Fortran order
};

/// Reads a header of version 1, 2 or 3 and leaves the stream at the first byte of data. A header that is wrong or not
/// supported throws DataError, which begins with the stream's name.
NpyHeader read_npy_header(ByteStream& bytes, NpyForms forms = NpyForms::kPlain);

/// A version 1 header with magic and padding, as NumPy writes it. Other dtypes throw ArgumentError.
std::string format_npy_header(torch::ScalarType dtype, const std::vector<int64_t>& shape);

// Arrays in NumPy's .npy format: float32, float64, int32, int64, uint8; little-endian, C order.

/// The array of a file, on the CPU, contiguous; half precision comes as float32. DataError, which names the file, if it
/// is empty, is not .npy, has another dtype, or holds fewer or more bytes than its header promises. Memory is never
/// allocated only because a header claims a size.
torch::Tensor read_npy(const std::filesystem::path& path);

/// The same from a stream, whose name begins the messages.
torch::Tensor read_npy(ByteStream& bytes);

/// Writes a tensor of any device, whole or not at all.
void write_npy(const std::filesystem::path& path, const torch::Tensor& values);

// NumPy's .npz: a zip archive of .npy files, plain (numpy.savez) or compressed (numpy.savez_compressed).
// Read and written with libarchive; in a build without it every function throws DataError.
// An array that read_npy would refuse is refused here, as "FILE: NAME.npy: ...".

/// The names of the arrays, without ".npy", in the order of the file.
std::vector<std::string> npz_names(const std::filesystem::path& path);

/// All arrays, in the order of the file.
std::vector<NamedTensor> read_npz(const std::filesystem::path& path);

/// One array; the others are skipped, whatever they hold. DataError, which lists the names, if it is not there.
torch::Tensor read_npz(const std::filesystem::path& path, const std::string& name);

/// Writes the arrays uncompressed, as numpy.savez does; whole or not at all.
void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>& arrays);

}  // namespace priornet
