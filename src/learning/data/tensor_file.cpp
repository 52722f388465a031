#include <priornet/learning/tensor_file.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/data/growing_tensor_file.h"

namespace priornet {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read and written as they lie in memory");

using Json = nlohmann::json;

constexpr const char* kMetadata = "__metadata__";
constexpr std::string_view kHash = "hash of ";  // of a tensor, in the metadata
constexpr const char* kHeaderHash = "hash";     // of the header without it, in the metadata
constexpr size_t kPage = 4096;                  // tensors begin at a multiple of it, to be mapped

struct StoredType {
  std::string_view code;
  torch::ScalarType type;
};
constexpr std::array<StoredType, 10> kStoredTypes = {{{"BOOL", torch::kBool},
                                                      {"U8", torch::kUInt8},
                                                      {"I8", torch::kInt8},
                                                      {"I16", torch::kInt16},
                                                      {"I32", torch::kInt32},
                                                      {"I64", torch::kInt64},
                                                      {"F16", torch::kFloat16},
                                                      {"BF16", torch::kBFloat16},
                                                      {"F32", torch::kFloat32},
                                                      {"F64", torch::kFloat64}}};

std::string_view bytes_of(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

std::string hash_text(std::string_view bytes) { return fmt::format("{:016x}", content_hash(bytes)); }

// What read_tensor_file finds wrong, before the file's name is put in front.
[[noreturn]] void fail(const std::string& what) { throw DataError(what); }

struct Layout {
  Json header;
  size_t data_at = 0;    ///< where the bytes of the tensors begin in the file
  size_t data_size = 0;  ///< how many bytes they have
};

Layout parse_layout(std::string_view file) {
  uint64_t size = 0;
  if (file.size() < sizeof(size)) fail("is too short for a tensor file");
  std::memcpy(&size, file.data(), sizeof(size));
  const auto rest = file.substr(sizeof(size));
  if (size > rest.size())
    fail(fmt::format("is not a tensor file, or truncated: its header should have {} bytes, found {}", size,
                     rest.size()));
  Layout layout{Json::parse(rest.substr(0, size), nullptr, false), sizeof(size) + size, rest.size() - size};
  if (!layout.header.is_object()) fail("is not a tensor file: its header is not a JSON object");
  return layout;
}

// The hash of the header as we would write it, whatever its spaces. Other programs' files hold no hashes.
void check_header_hash(Json header) {
  const auto metadata = header.find(kMetadata);
  if (metadata == header.end() || !metadata->is_object()) return;
  bool ours = false;
  for (const auto& item : metadata->items()) ours = ours || item.key().starts_with(kHash);
  if (!ours) return;
  const auto hash = metadata->value(kHeaderHash, "");
  metadata->erase(kHeaderHash);
  if (hash != hash_text(json_text(header))) fail("is damaged: its header does not match its hash");
}

// The bytes that a shape takes, unless they are more than `most`.
uint64_t bytes_for(const std::vector<int64_t>& shape, uint64_t item, uint64_t most) {
  uint64_t bytes = item;
  for (const auto size : shape) {
    if (size < 0 || (size > 0 && bytes > most / static_cast<uint64_t>(size))) return most + 1;
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

// Where the bytes of a tensor begin and end in the data.
std::array<uint64_t, 2> place_of(const Json& entry) {
  const auto& offsets = entry.at("data_offsets");
  return {static_cast<uint64_t>(whole_number_of(offsets.at(0))), static_cast<uint64_t>(whole_number_of(offsets.at(1)))};
}

torch::Tensor tensor_at(const std::string& name, const Layout& layout, const std::shared_ptr<FileMapping>& mapping) {
  const auto& entry = layout.header.at(name);
  const auto code = entry.at("dtype").get<std::string>();
  const auto dtype =
      std::find_if(kStoredTypes.begin(), kStoredTypes.end(), [&](const auto& d) { return d.code == code; });
  if (dtype == kStoredTypes.end()) fail(fmt::format("tensor {} has the unknown dtype {}", name, code));
  const auto shape = whole_numbers_of(entry.at("shape"));
  const auto place = place_of(entry);
  const auto item = torch::elementSize(dtype->type);
  if (place[0] > place[1] || place[1] > layout.data_size)
    fail(fmt::format("is truncated: tensor {} should end at byte {} of the data, but the data have {}", name, place[1],
                     layout.data_size));
  if (bytes_for(shape, item, layout.data_size) != place[1] - place[0])
    fail(fmt::format("tensor {} has a shape that does not fit its {} bytes", name, place[1] - place[0]));
  auto* begin = mapping->data() + layout.data_at + place[0];
  const auto holds_truth = [](char byte) { return byte == 0 || byte == 1; };  // others make no bool in C++
  if (dtype->type == torch::kBool && !std::all_of(begin, begin + (place[1] - place[0]), holds_truth))
    fail(fmt::format("tensor {} should hold only 0 and 1, as its dtype is BOOL", name));
  // A file from another program may not be aligned.
  if (reinterpret_cast<uintptr_t>(begin) % item == 0)
    return torch::from_blob(
        begin, shape, [mapping](void*) {}, dtype->type);
  auto copy = torch::empty(shape, dtype->type);
  std::memcpy(copy.data_ptr(), begin, copy.nbytes());
  return copy;
}

// Each byte belongs to exactly one tensor: shared bytes, or bytes of no tensor, show that a file was forged.
void check_places(std::vector<std::pair<std::array<uint64_t, 2>, std::string>> places, uint64_t data_size) {
  std::sort(places.begin(), places.end());
  uint64_t end = 0;
  for (const auto& [place, name] : places) {
    if (place[0] == place[1]) continue;  // it has no bytes
    if (place[0] < end)
      fail(fmt::format("tensor {} begins within another tensor, at byte {} of the data", name, place[0]));
    if (place[0] > end) fail(fmt::format("has bytes that belong to no tensor, from byte {} of the data on", end));
    end = place[1];
  }
  if (end != data_size) fail(fmt::format("goes on after byte {} of the data, where the last tensor ends", end));
}

TensorFile parsed(const std::shared_ptr<FileMapping>& mapping) {
  const auto layout = parse_layout(mapping->bytes());
  check_header_hash(layout.header);
  TensorFile result;
  std::vector<std::pair<std::array<uint64_t, 2>, std::string>> places;
  for (const auto& [name, entry] : layout.header.items()) {
    if (name == kMetadata) {
      entry.get_to(result.metadata);
      continue;
    }
    result.tensors.push_back({name, tensor_at(name, layout, mapping)});
    places.emplace_back(place_of(entry), name);
  }
  check_places(std::move(places), layout.data_size);
  for (const auto& [name, tensor] : result.tensors) {
    const auto hash = result.metadata.find(std::string(kHash) + name);
    if (hash == result.metadata.end()) continue;
    if (hash->second != hash_text(bytes_of(tensor)))
      fail(fmt::format("is damaged: tensor {} does not match its hash", name));
    result.metadata.erase(hash);
  }
  result.metadata.erase(kHeaderHash);
  return result;
}

}  // namespace

const torch::Tensor& TensorFile::at(const std::string& name) const {
  for (const auto& tensor : tensors)
    if (tensor.name == name) return tensor.values;
  throw DataError(fmt::format("{}: holds no tensor {}", path, name));
}

TensorFile read_tensor_file(const std::filesystem::path& path) {
  const auto mapping = FileMapping::open(path);
  if (!mapping) {
    const InputFile says_why(path);
    throw DataError(fmt::format("{}: is empty", path.string()));
  }
  try {
    auto file = parsed(mapping);
    file.path = path.string();
    return file;
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  } catch (const Json::exception&) {
    throw DataError(fmt::format("{}: is not a tensor file: its header is damaged", path.string()));
  }
}

namespace {

struct Placed {
  std::string name;
  torch::ScalarType dtype;
  std::vector<int64_t> shape;
  uint64_t bytes;
  uint64_t hash;
};

// The tensors follow each other in the file.
std::string header_of(const std::vector<Placed>& tensors, const std::map<std::string, std::string>& metadata) {
  Json header = {{kMetadata, metadata}};
  uint64_t offset = 0;
  for (const auto& [name, type, shape, bytes, hash] : tensors) {
    const auto dtype =
        std::find_if(kStoredTypes.begin(), kStoredTypes.end(), [&](const auto& known) { return known.type == type; });
    if (dtype == kStoredTypes.end() || name == kMetadata || header.contains(name))
      throw ArgumentError(
          fmt::format("write_tensor_file: tensor {} has a dtype or a name that cannot be written", name));
    header[name] = {{"dtype", dtype->code}, {"shape", shape}, {"data_offsets", {offset, offset + bytes}}};
    header[kMetadata][std::string(kHash) + name] = fmt::format("{:016x}", hash);
    offset += bytes;
  }
  header[kMetadata][kHeaderHash] = hash_text(json_text(header));
  return json_text(header);
}

// The header with its length before it, padded to this many bytes.
std::string padded_header(std::string text, size_t bytes) {
  const uint64_t size = bytes - sizeof(uint64_t);
  text.append(size - text.size(), ' ');
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + text;
}

Placed placed(const NamedTensor& tensor) {
  const auto& values = tensor.values;
  return {tensor.name, values.scalar_type(), values.sizes().vec(), values.nbytes(), content_hash(bytes_of(values))};
}

}  // namespace

void write_tensor_file(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  auto ordered = tensors;
  for (auto& [name, values] : ordered) values = values.detach().to(torch::kCPU).contiguous();
  // Large element types first keep every tensor aligned without gaps, which the format does not allow.
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.values.element_size() > b.values.element_size(); });
  std::vector<Placed> places;
  for (const auto& tensor : ordered) places.push_back(placed(tensor));
  const auto text = header_of(places, metadata);
  AtomicFile file(path);
  file.write(padded_header(text, (text.size() + sizeof(uint64_t) + kPage - 1) / kPage * kPage));
  for (const auto& tensor : ordered) file.write(bytes_of(tensor.values));
  file.commit();
}

namespace {

constexpr size_t kHeaderRoom = size_t{1} << 20;  // of a file whose header is written last

}  // namespace

void GrowingTensorFile::append(const torch::Tensor& values) {
  if (!file_) {
    std::error_code ignored;  // opening it reports what is wrong
    std::filesystem::create_directories(path_.parent_path(), ignored);
    file_ = std::make_unique<AtomicFile>(path_);
    file_->write(std::string(kHeaderRoom, ' '));
    hash_ = {};
    size_ = 0;
  }
  const auto bytes = bytes_of(values);
  file_->write(bytes);
  hash_.add(bytes);
  size_ += bytes.size();
}

torch::Tensor GrowingTensorFile::values(const std::vector<int64_t>& shape) const {
  const auto mapping = file_->mapping();
  return torch::from_blob(
      mapping->data() + kHeaderRoom, shape, [mapping](void*) {}, torch::kUInt8);
}

torch::Tensor GrowingTensorFile::take(const std::vector<int64_t>& shape) {
  auto taken = values(shape);
  file_.reset();
  return taken;
}

void GrowingTensorFile::finish(const NamedShape& first, const std::vector<NamedTensor>& others,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<Placed> places = {{first.name, torch::kUInt8, first.shape, size_, hash_.value()}};
  for (const auto& tensor : others) places.push_back(placed(tensor));
  const auto text = header_of(places, metadata);
  if (text.size() + sizeof(uint64_t) > kHeaderRoom)
    throw DataError(fmt::format("{}: cannot be written: its header takes {} bytes", path_.string(), text.size()));
  for (const auto& tensor : others) file_->write(bytes_of(tensor.values));
  file_->write_over(0, padded_header(text, kHeaderRoom));
  file_->commit();
  file_.reset();
}

}  // namespace priornet
