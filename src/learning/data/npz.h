#pragma once

#include <priornet/uncertainty/named_tensor.h>

#include <filesystem>
#include <string>
#include <vector>

// NumPy's .npz: a zip archive of .npy files, plain (numpy.savez) or compressed (numpy.savez_compressed).
// Read and written with libarchive; in a build without it every function throws DataError.
// An array that read_npy would refuse is refused here, as "FILE: NAME.npy: ...".

namespace priornet {

/// The names of the arrays, without ".npy", in the order of the file.
std::vector<std::string> npz_names(const std::filesystem::path& path);

/// All arrays, in the order of the file.
std::vector<NamedTensor> read_npz(const std::filesystem::path& path);

/// One array; the others are skipped, whatever they hold. DataError, which lists the names, if it is not there.
torch::Tensor read_npz(const std::filesystem::path& path, const std::string& name);

/// Writes the arrays uncompressed, as numpy.savez does; whole or not at all.
void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>& arrays);

}  // namespace priornet
