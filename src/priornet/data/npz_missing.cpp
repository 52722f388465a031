#include <priornet/core/errors.h>
#include <priornet/data/npz.h>

// Stands in for npz.cpp in a build without libarchive.

namespace priornet {

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  throw DataError(path.string() + ": this build has no libarchive: .npz files cannot be read");
}

std::vector<NamedTensor> read_npz(const std::filesystem::path& path) {
  throw DataError(path.string() + ": this build has no libarchive: .npz files cannot be read");
}

torch::Tensor read_npz(const std::filesystem::path& path, const std::string&) {
  throw DataError(path.string() + ": this build has no libarchive: .npz files cannot be read");
}

void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>&) {
  throw DataError(path.string() + ": this build has no libarchive: .npz files cannot be written");
}

}  // namespace priornet
