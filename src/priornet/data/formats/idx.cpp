#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/tensor_memory.h>
#include <priornet/data/formats/idx.h>

#include <array>

namespace priornet {
namespace {

constexpr int kUnsignedByte = 0x08;
constexpr int kMaxRank = 4;

using FourBytes = std::array<unsigned char, 4>;

int64_t big_endian(const FourBytes& b) {
  return int64_t{b[0]} << 24 | int64_t{b[1]} << 16 | int64_t{b[2]} << 8 | int64_t{b[3]};
}

void check_magic(const std::string& name, const FourBytes& magic) {
  if (magic[0] == 0x1f && magic[1] == 0x8b)
    throw DataError(fmt::format("{}: is gzip data: wanted an IDX file, or a name that ends in .gz", name));
  if (magic[0] != 0 || magic[1] != 0)
    throw DataError(
        fmt::format("{}: is not an IDX file: it starts with the bytes {:02x} {:02x}, wanted 00 00, type and rank", name,
                    magic[0], magic[1]));
  if (magic[2] != kUnsignedByte)
    throw DataError(fmt::format("{}: byte 2, the type of the values, is {:02x}: wanted {:02x} (uint8)", name, magic[2],
                                kUnsignedByte));
  if (magic[3] < 1 || magic[3] > kMaxRank)
    throw DataError(fmt::format("{}: byte 3, the rank, is {}: wanted 1 to {}", name, magic[3], kMaxRank));
}

}  // namespace

torch::Tensor read_idx(ByteStream& bytes) {
  FourBytes magic{};
  bytes.read_exactly(magic.data(), magic.size(), "the IDX header");
  check_magic(bytes.name(), magic);
  std::vector<int64_t> shape;
  for (int i = 0; i < magic[3]; ++i) {
    FourBytes size{};
    bytes.read_exactly(size.data(), size.size(), "the IDX header");
    shape.push_back(big_endian(size));
  }
  auto values = memory_for(bytes, shape, torch::kUInt8);
  const auto what = fmt::format("the values [{}]", fmt::join(shape, ", "));
  bytes.read_exactly(values.data_ptr(), values.nbytes(), what);
  bytes.expect_end(what);
  return values;
}

}  // namespace priornet
