#include "learning/data/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "learning/base/file_io.h"
#include "learning/data/archive.h"
#include "learning/data/byte_stream.h"
#include "learning/data/file_tree.h"

namespace priornet {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read and written as they lie in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLongestDict = size_t{1} << 20;  // far beyond any real header; a false length must not allocate

struct Dtype {
  std::string_view code;
  torch::ScalarType type;
};
constexpr std::array<Dtype, 5> kDtypes = {{{"<f4", torch::kFloat32},
                                           {"<f8", torch::kFloat64},
                                           {"<i4", torch::kInt32},
                                           {"<i8", torch::kInt64},
                                           {"|u1", torch::kUInt8}}};

// Read as a type of LibTorch's that has as many bits, and never written. NumPy has no bfloat16: ml_dtypes saves it as
// two bytes without a type.
constexpr std::array<Dtype, 9> kOtherDtypes = {{{"<f2", torch::kHalf},
                                                {"<V2", torch::kBFloat16},
                                                {"|V2", torch::kBFloat16},
                                                {"|b1", torch::kUInt8},
                                                {"|i1", torch::kInt8},
                                                {"<i2", torch::kInt16},
                                                {"<u2", torch::kInt16},
                                                {"<u4", torch::kInt32},
                                                {"<u8", torch::kInt64}}};

// As one of kDtypes. Unsigned numbers were read as signed ones: those with the highest bit are negative.
torch::Tensor widened(const torch::Tensor& values, bool is_unsigned) {
  switch (values.scalar_type()) {
    case torch::kHalf:
    case torch::kBFloat16:
      return values.to(torch::kFloat32);
    case torch::kInt8:
      return values.to(torch::kInt32);
    case torch::kInt16:
      return is_unsigned ? values.to(torch::kInt32).bitwise_and(0xffff) : values.to(torch::kInt32);
    case torch::kInt32:
      return is_unsigned ? values.to(torch::kInt64).bitwise_and(int64_t{0xffffffff}) : values;
    default:
      return values;
  }
}

const Dtype* find_dtype(torch::ScalarType type) {
  for (const auto& dtype : kDtypes)
    if (dtype.type == type) return &dtype;
  return nullptr;
}

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Splits at commas outside brackets and quotes. Nothing if brackets or quotes do not match.
std::optional<std::vector<std::string_view>> split(std::string_view text) {
  std::vector<std::string_view> items;
  std::string open;
  char quote = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) return std::nullopt;
      open.pop_back();
    } else if (c == ',' && open.empty()) {
      items.push_back(without_space(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (quote != 0 || !open.empty()) return std::nullopt;
  // A comma may follow the last item, as in (3,).
  if (const auto last = without_space(text.substr(start)); !last.empty()) items.push_back(last);
  return items;
}

std::optional<std::string_view> inside(std::string_view text, char open, char close) {
  if (text.size() < 2 || text.front() != open || text.back() != close) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<std::string_view> unquoted(std::string_view text) {
  const auto single = inside(text, '\'', '\'');
  return single ? single : inside(text, '"', '"');
}

using Dict = std::map<std::string_view, std::string_view>;

// {'key': value, ...} with the values left as text.
std::optional<Dict> parse_dict(std::string_view text) {
  const auto body = inside(without_space(text), '{', '}');
  const auto items = body ? split(*body) : std::nullopt;
  if (!items) return std::nullopt;
  Dict dict;
  for (const auto item : *items) {
    const auto colon = item.find(':');  // no key of this format holds one
    if (colon == std::string_view::npos) return std::nullopt;
    const auto key = unquoted(without_space(item.substr(0, colon)));
    if (!key) return std::nullopt;
    dict[*key] = without_space(item.substr(colon + 1));
  }
  return dict;
}

std::optional<std::vector<int64_t>> parse_shape(std::string_view text) {
  const auto body = inside(text, '(', ')');
  const auto items = body ? split(*body) : std::nullopt;
  if (!items) return std::nullopt;
  std::vector<int64_t> shape;
  for (auto item : *items) {
    if (item.ends_with('L')) item.remove_suffix(1);  // a long integer of Python 2
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), extent);
    if (error != std::errc{} || end != item.data() + item.size() || extent < 0) return std::nullopt;
    shape.push_back(extent);
  }
  return shape;
}

std::string read_dict(ByteStream& bytes) {
  const auto& name = bytes.name();
  std::array<char, 8> start{};  // magic, then the version
  const auto got = bytes.read(start.data(), start.size());
  if (got == 0) throw DataError(fmt::format("{}: is empty", name));
  if (std::string_view(start.data(), std::min(got, kMagic.size())) != kMagic)
    throw DataError(fmt::format("{}: is not an .npy file: it does not start with \\x93NUMPY", name));

  const auto major = static_cast<unsigned char>(start[6]);
  const size_t length_bytes = major == 1 ? 2 : 4;
  uint32_t length = 0;
  if (got == start.size() && (major < 1 || major > 3))
    throw DataError(fmt::format("{}: .npy version {} is not supported: wanted 1, 2 or 3", name, int{major}));
  if (bytes.read(&length, length_bytes) != length_bytes)
    throw DataError(fmt::format("{}: ends inside the .npy header", name));
  if (length > kLongestDict)
    throw DataError(fmt::format("{}: the .npy header claims {} bytes, more than any header needs", name, length));
  std::string dict(length, '\0');
  if (const auto found = bytes.read(dict.data(), length); found != length)
    throw DataError(fmt::format("{}: ends inside the .npy header: wanted {} bytes, found {}", name, length, found));
  return dict;
}

}  // namespace

NpyHeader read_npy_header(ByteStream& bytes, NpyForms forms) {
  const auto& name = bytes.name();
  const auto text = read_dict(bytes);
  const auto dict = parse_dict(text);
  if (!dict || !dict->contains("descr") || !dict->contains("fortran_order") || !dict->contains("shape"))
    throw DataError(fmt::format("{}: the .npy header is not a dict of descr, fortran_order and shape", name));

  NpyHeader header;
  const auto descr = dict->at("descr");
  const auto code = unquoted(descr);
  const auto known = [&](const Dtype& d) { return d.code == code; };
  const auto* dtype = std::find_if(kDtypes.begin(), kDtypes.end(), known);
  const auto* other = std::find_if(kOtherDtypes.begin(), kOtherDtypes.end(), known);
  const bool others = forms == NpyForms::kAll && other != kOtherDtypes.end();
  if (dtype == kDtypes.end() && !others)
    throw DataError(
        fmt::format("{}: dtype {} is not supported: wanted {}", name, descr,
                    forms == NpyForms::kAll
                        ? "numbers in little-endian order: float16, float32, float64, integers of any size or bool"
                        : "<f4, <f8, <i4, <i8 or |u1"));
  header.dtype = others ? other->type : dtype->type;
  header.is_unsigned = others && (code == "<u2" || code == "<u4" || code == "<u8");

  const auto order = dict->at("fortran_order");
  if (order == "True" && forms == NpyForms::kPlain)
    throw DataError(fmt::format("{}: is in Fortran order: wanted C order (numpy.ascontiguousarray)", name));
  header.fortran_order = order == "True";
  if (!header.fortran_order && order != "False")
    throw DataError(fmt::format("{}: fortran_order in the .npy header is {}: wanted False", name, order));

  const auto shape = parse_shape(dict->at("shape"));
  if (!shape) throw DataError(fmt::format("{}: the shape in the .npy header is not a tuple of sizes", name));
  header.shape = *shape;
  return header;
}

std::string format_npy_header(torch::ScalarType dtype, const std::vector<int64_t>& shape) {
  const auto* found = find_dtype(dtype);
  if (found == nullptr)
    throw ArgumentError(fmt::format("write_npy: values should be float32, float64, int32, int64 or uint8, found {}",
                                    c10::toString(dtype)));
  auto dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", found->code,
                          fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // The data start at a multiple of 64 bytes and the header ends with a line break.
  const size_t start = kMagic.size() + 2 + 2;
  dict.append(63 - (start + dict.size()) % 64, ' ');
  dict.push_back('\n');
  const auto length = static_cast<uint16_t>(dict.size());
  std::string header(kMagic);
  header.append({'\x01', '\x00'});
  header.append(reinterpret_cast<const char*>(&length), sizeof(length));
  return header + dict;
}

torch::Tensor read_npy(const std::filesystem::path& path) { return read_npy(*open_file(path)); }

torch::Tensor read_npy(ByteStream& bytes) {
  auto header = read_npy_header(bytes, NpyForms::kAll);
  // An array in Fortran order is the transpose of one in our order.
  if (header.fortran_order) std::reverse(header.shape.begin(), header.shape.end());
  auto values = memory_for(bytes, header.shape, header.dtype);
  const auto what = fmt::format("the array [{}]", fmt::join(header.shape, ", "));
  bytes.read_exactly(values.data_ptr(), values.nbytes(), what);
  bytes.expect_end(what);
  if (header.fortran_order) {
    std::vector<int64_t> reversed(header.shape.size());
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    values = values.permute(reversed).contiguous();
  }
  return widened(values, header.is_unsigned);
}

void write_npy(const std::filesystem::path& path, const torch::Tensor& values) {
  const auto array = values.detach().cpu().contiguous();
  const auto header = format_npy_header(array.scalar_type(), array.sizes().vec());
  AtomicFile file(path);
  file.write(header);
  file.write(array.data_ptr(), array.nbytes());
  file.commit();
}

namespace {

// Takes an array by its name; the unread rest is skipped.
using ArrayVisitor = std::function<void(const std::string& name, ByteStream& npy)>;

void visit(const std::filesystem::path& path, const ArrayVisitor& visitor) {
  visit_archive(
      path, [](const std::string&) { return true; },
      [&](const std::string& file, ByteStream& npy) {
        visitor(file.ends_with(".npy") ? file.substr(0, file.size() - 4) : file, npy);
      });
}

}  // namespace

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  std::vector<std::string> names;
  visit(path, [&](const std::string& name, ByteStream&) { names.push_back(name); });
  return names;
}

std::vector<NamedTensor> read_npz(const std::filesystem::path& path) {
  std::vector<NamedTensor> arrays;
  visit(path, [&](const std::string& name, ByteStream& npy) { arrays.push_back({name, read_npy(npy)}); });
  return arrays;
}

torch::Tensor read_npz(const std::filesystem::path& path, const std::string& wanted) {
  torch::Tensor found;
  std::vector<std::string> names;
  visit(path, [&](const std::string& name, ByteStream& npy) {
    names.push_back(name);
    if (name == wanted && !found.defined()) found = read_npy(npy);
  });
  if (!found.defined())
    throw DataError(fmt::format("{}: has no array {}; its arrays: {}", path.string(), wanted, fmt::join(names, ", ")));
  return found;
}

}  // namespace priornet
