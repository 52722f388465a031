#include "learning/data/matlab_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "learning/data/byte_stream.h"

namespace priornet {
namespace {

static_assert(std::endian::native == std::endian::little, "values are read as they lie in memory");

// Types of stored data.
constexpr uint32_t kInt8 = 1, kUInt8 = 2, kInt16 = 3, kInt32 = 5, kUInt32 = 6, kFloat32 = 7, kFloat64 = 9;
constexpr uint32_t kMatrix = 14, kCompressed = 15;
// Classes of matrices: from double to uint32, all that hold numbers we can represent.
constexpr uint32_t kFirstNumeric = 6, kLastNumeric = 13;
constexpr uint32_t kComplexFlag = 0x0800;
constexpr int64_t kMostDimensions = 32;
constexpr int64_t kLongestName = 4096;

std::optional<torch::ScalarType> number_type(uint32_t stored) {
  switch (stored) {
    case kInt8:
      return torch::kInt8;
    case kUInt8:
      return torch::kUInt8;
    case kInt16:
      return torch::kInt16;
    case kInt32:
      return torch::kInt32;
    case kFloat32:
      return torch::kFloat32;
    case kFloat64:
      return torch::kFloat64;
    default:
      return std::nullopt;
  }
}

// The tag before data: their type and length. Up to 4 bytes of data may stand in the tag itself.
struct Tag {
  uint32_t type = 0;
  int64_t size = 0;
  bool small = false;

  int64_t padding() const {
    const int64_t unit = small ? 4 : 8;
    return (unit - size % unit) % unit;
  }
};

// Nothing at the end of the stream.
std::optional<Tag> next_tag(ByteStream& bytes) {
  uint32_t first = 0;
  const auto got = bytes.read(&first, sizeof(first));
  if (got == 0) return std::nullopt;
  if (got < sizeof(first))
    throw DataError(fmt::format("{}: ends at byte {}, within the tag of an element", bytes.name(), bytes.offset()));
  if (first >> 16 != 0) {
    const Tag tag{first & 0xffff, first >> 16, true};
    if (tag.size > 4)
      throw DataError(fmt::format("{}: byte {}: a small element claims {} bytes: wanted 1 to 4", bytes.name(),
                                  bytes.offset() - 4, tag.size));
    return tag;
  }
  uint32_t size = 0;
  bytes.read_exactly(&size, sizeof(size), "the tag of an element");
  return Tag{first, size, false};
}

Tag read_tag(ByteStream& bytes) {
  const auto tag = next_tag(bytes);
  if (!tag) throw DataError(fmt::format("{}: ends at byte {}: wanted an element", bytes.name(), bytes.offset()));
  return *tag;
}

void skip_padding(ByteStream& bytes, const Tag& tag) {
  std::array<char, 8> ignored{};
  bytes.read_exactly(ignored.data(), static_cast<size_t>(tag.padding()), "the padding of an element");
}

std::string read_small(ByteStream& bytes, uint32_t type, int64_t longest, const char* what) {
  const auto tag = read_tag(bytes);
  if (tag.type != type || tag.size > longest)
    throw DataError(fmt::format("{}: before byte {}: {} has type {} and {} bytes: wanted type {} and at most {}",
                                bytes.name(), bytes.offset(), what, tag.type, tag.size, type, longest));
  std::string data(static_cast<size_t>(tag.size), '\0');
  bytes.read_exactly(data.data(), data.size(), what);
  skip_padding(bytes, tag);
  return data;
}

template <typename T>
std::vector<T> as(const std::string& data) {
  std::vector<T> values(data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), data.data(), values.size() * sizeof(T));
  return values;
}

// True if the body of a matrix was read to its end.
bool visit_matrix(ByteStream& body, const MatVisitor& visitor) {
  const auto flags = as<uint32_t>(read_small(body, kUInt32, 8, "the flags of a variable"));
  const auto kind = flags.empty() ? 0 : flags[0] & 0xff;
  if (kind < kFirstNumeric || kind > kLastNumeric || (flags[0] & kComplexFlag) != 0) return false;
  const auto sizes = as<int32_t>(read_small(body, kInt32, kMostDimensions * 4, "the dimensions of a variable"));
  const auto name = read_small(body, kInt8, kLongestName, "the name of a variable");
  for (const auto size : sizes)
    if (size < 0) throw DataError(fmt::format("{}: variable {} has a size of {}", body.name(), name, size));
  MatMatrix matrix(name, {sizes.begin(), sizes.end()}, body);
  visitor(matrix);
  if (matrix.was_read()) body.expect_end("the variable");
  return matrix.was_read();
}

void check_header(ByteStream& bytes) {
  std::array<char, 128> header{};
  bytes.read_exactly(header.data(), header.size(), "the header of a MATLAB file");
  const std::string_view end(header.data() + 124, 4);
  if (end.substr(2) == "MI")
    throw DataError(fmt::format("{}: byte 126: is big-endian: wanted a little-endian MATLAB file", bytes.name()));
  if (end != std::string_view("\x00\x01IM", 4))
    throw DataError(fmt::format("{}: is not a MATLAB 5 file: bytes 124 to 127 are {:02x}, wanted 00 01 49 4d",
                                bytes.name(),
                                fmt::join(reinterpret_cast<const unsigned char*>(end.data()),
                                          reinterpret_cast<const unsigned char*>(end.data()) + 4, " ")));
}

void check_is_matrix(const std::string& name, const Tag& tag) {
  if (tag.type != kMatrix || tag.small)
    throw DataError(fmt::format("{}: has type {}: wanted a matrix, {}", name, tag.type, kMatrix));
}

}  // namespace

torch::Tensor MatMatrix::read_values() {
  const auto variable = fmt::format("variable {} [{}]", name_, fmt::join(shape_, ", "));
  const auto tag = read_tag(bytes_);
  const auto type = number_type(tag.type);
  if (!type)
    throw DataError(
        fmt::format("{}: {} is stored as type {}, which is not supported", bytes_.name(), variable, tag.type));
  int64_t count = 1;
  for (const auto size : shape_)
    if (__builtin_mul_overflow(count, size, &count))
      throw DataError(fmt::format("{}: {} does not fit in memory", bytes_.name(), variable));
  const auto item = static_cast<int64_t>(c10::elementSize(*type));
  if (tag.size % item != 0 || tag.size / item != count)
    throw DataError(fmt::format("{}: {} should have {} values of {} bytes from byte {}, found {} bytes", bytes_.name(),
                                variable, count, item, bytes_.offset(), tag.size));
  auto values = memory_for(bytes_, {count}, *type);
  bytes_.read_exactly(values.data_ptr(), values.nbytes(), variable);
  skip_padding(bytes_, tag);
  was_read_ = true;
  return values;
}

void visit_mat5(ByteStream& bytes, const MatVisitor& visitor) {
  check_header(bytes);
  while (const auto tag = next_tag(bytes)) {
    const auto name = fmt::format("{}: the variable before byte {}", bytes.name(), bytes.offset());
    PartStream element(name, bytes, tag->size);
    if (tag->type == kCompressed) {
      const auto expanded = inflate_zlib(element);
      const auto inner = read_tag(*expanded);
      check_is_matrix(name, inner);
      PartStream body(name, *expanded, inner.size);
      if (visit_matrix(body, visitor)) expanded->expect_end("the variable");
    } else {
      check_is_matrix(name, *tag);
      visit_matrix(element, visitor);
    }
    element.skip_rest();
  }
}

}  // namespace priornet
