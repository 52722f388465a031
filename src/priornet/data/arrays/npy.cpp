#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/atomic_file.h>
#include <priornet/data/arrays/npy.h>
#include <priornet/data/arrays/tensor_memory.h>
#include <priornet/data/files/file_tree.h>

namespace priornet {

torch::Tensor read_npy(const std::filesystem::path& path) { return read_npy(*open_file(path)); }

torch::Tensor read_npy(ByteStream& bytes) {
  const auto header = read_npy_header(bytes);
  auto values = memory_for(bytes, header.shape, header.dtype);
  const auto what = fmt::format("the array [{}]", fmt::join(header.shape, ", "));
  bytes.read_exactly(values.data_ptr(), values.nbytes(), what);
  bytes.expect_end(what);
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
