#include "learning/data/tensor_memory.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>
#include <sys/mman.h>

#include <algorithm>
#include <optional>

namespace priornet {
namespace {

// Empty dimensions count as 1, so that the others, too, are sure to have strides that fit.
std::optional<int64_t> checked_bytes(const std::vector<int64_t>& shape, torch::ScalarType dtype) {
  auto bytes = static_cast<int64_t>(c10::elementSize(dtype));
  for (const auto extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) return std::nullopt;
  return std::find(shape.begin(), shape.end(), 0) == shape.end() ? bytes : 0;
}

// Memory that is about to be filled from start to end costs half as much to touch in large pages.
void ask_for_large_pages(const torch::Tensor& tensor) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kLargePage = uintptr_t{2} << 20;
  const auto begin = (reinterpret_cast<uintptr_t>(tensor.data_ptr()) + kLargePage - 1) & ~(kLargePage - 1);
  const auto end = (reinterpret_cast<uintptr_t>(tensor.data_ptr()) + tensor.nbytes()) & ~(kLargePage - 1);
  if (tensor.nbytes() >= 4 * kLargePage) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace

torch::Tensor memory_for(const ByteStream& bytes, const std::vector<int64_t>& shape, torch::ScalarType dtype) {
  const auto wanted = checked_bytes(shape, dtype);
  if (wanted && *wanted > bytes.at_most())
    throw DataError(fmt::format("{}: [{}] takes {} bytes from byte {}, of which {} can follow", bytes.name(),
                                fmt::join(shape, ", "), *wanted, bytes.offset(), bytes.at_most()));
  return memory_for(bytes.name(), shape, dtype);
}

torch::Tensor memory_for(const std::string& name, const std::vector<int64_t>& shape, torch::ScalarType dtype) {
  try {
    if (checked_bytes(shape, dtype)) {
      auto tensor = torch::empty(shape, dtype);
      ask_for_large_pages(tensor);
      return tensor;
    }
  } catch (const c10::Error&) {  // said below
  }
  throw DataError(fmt::format("{}: [{}] does not fit in memory", name, fmt::join(shape, ", ")));
}

void touch(const torch::Tensor& memory) {
  constexpr int64_t kLargePage = 4096;
  constexpr int64_t kLarge = int64_t{2} << 20;
  auto* bytes = static_cast<char*>(memory.data_ptr());
  const auto size = static_cast<int64_t>(memory.nbytes());
  at::parallel_for(0, size / kLarge, 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin * kLarge; at < end * kLarge; at += kLargePage) *static_cast<volatile char*>(bytes + at) = 0;
  });
}

}  // namespace priornet
