#include <fmt/format.h>
#include <priornet/core/atomic_file.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/data/arrays/npy.h>

namespace priornet {
namespace {

[[noreturn]] void wrong_length(std::string_view name, const NpyHeader& header, int64_t found) {
  throw DataError(fmt::format("{}: {} takes {} bytes, found {}", name, describe(header), header.bytes, found));
}

torch::Tensor allocate(std::string_view name, const NpyHeader& header) {
  try {
    return torch::empty(header.shape, header.dtype);
  } catch (const c10::Error&) {
    throw DataError(fmt::format("{}: {} ({} bytes) does not fit in memory", name, describe(header), header.bytes));
  }
}

}  // namespace

torch::Tensor read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  return read_npy(
      path.string(), [&](void* to, size_t size) { return file.read(to, size); }, file.size());
}

torch::Tensor read_npy(std::string_view name, const ByteSource& source, int64_t size) {
  int64_t left = size;
  const auto header = read_npy_header(name, [&](void* to, size_t wanted) {
    const auto found = source(to, wanted);
    left -= static_cast<int64_t>(found);
    return found;
  });
  if (header.bytes != left) wrong_length(name, header, left);
  auto values = allocate(name, header);
  const auto found = static_cast<int64_t>(source(values.data_ptr(), static_cast<size_t>(header.bytes)));
  if (found != header.bytes) wrong_length(name, header, found);
  return values;
}

void write_npy(const std::filesystem::path& path, const torch::Tensor& values) {
  const auto array = values.detach().cpu().contiguous();
  const auto header = format_npy_header(array.scalar_type(), array.sizes().vec());
  AtomicFile file(path);
  file.write(header);
  file.write(array.data_ptr(), array.nbytes());
  file.commit();
}

}  // namespace priornet
