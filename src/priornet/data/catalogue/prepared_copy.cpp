#include <priornet/core/atomic_file.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/content_hash.h>
#include <priornet/data/catalogue/file_mapping.h>
#include <priornet/data/catalogue/prepared_copy.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "PNDATA1\n";
constexpr size_t kHeaderAt = 24;  // after the magic, the header's length and its hash
constexpr size_t kPage = 4096;

size_t to_page(size_t offset) { return (offset + kPage - 1) / kPage * kPage; }

std::string_view bytes_of(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

struct Header {
  std::vector<int64_t> shape;
  bool has_labels = false;
  std::vector<std::string> class_names;
  uint64_t images_hash = 0;
  uint64_t labels_hash = 0;

  size_t images_bytes() const {
    size_t bytes = 1;
    for (const auto side : shape) bytes *= static_cast<size_t>(side);
    return bytes;
  }
  size_t labels_bytes() const { return has_labels ? static_cast<size_t>(shape[0]) * sizeof(int64_t) : 0; }
};

uint64_t number_at(std::string_view bytes, size_t at) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

// The header's own hash vouches for it; what follows only asks whether it is meant for us.
std::optional<Json> read_header(std::string_view file) {
  if (file.size() < kHeaderAt || file.substr(0, kMagic.size()) != kMagic) return std::nullopt;
  const uint64_t size = number_at(file, 8);
  if (size > file.size() - kHeaderAt) return std::nullopt;
  const auto text = file.substr(kHeaderAt, size);
  if (content_hash(text) != number_at(file, 16)) return std::nullopt;
  auto json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

Header to_header(const Json& json) {
  Header header;
  json.at("shape").get_to(header.shape);
  json.at("has_labels").get_to(header.has_labels);
  json.at("class_names").get_to(header.class_names);
  json.at("images_hash").get_to(header.images_hash);
  json.at("labels_hash").get_to(header.labels_hash);
  return header;
}

bool shape_fits(const std::vector<int64_t>& shape, size_t file_size) {
  if (shape.size() != 4) return false;
  uint64_t bytes = 1;
  for (const auto side : shape) {
    if (side < 1 || static_cast<uint64_t>(side) > file_size / bytes) return false;
    bytes *= static_cast<uint64_t>(side);
  }
  return true;
}

std::optional<Dataset> mapped(const std::shared_ptr<FileMapping>& mapping, const std::optional<std::string>& source) {
  const auto file = mapping->bytes();
  const auto json = read_header(file);
  if (!json || json->at("reader") != kReaderVersion || (source && json->at("source") != *source)) return std::nullopt;
  const auto header = to_header(*json);
  if (!shape_fits(header.shape, file.size())) return std::nullopt;
  const size_t images_at = to_page(kHeaderAt + number_at(file, 8));
  const size_t labels_at = to_page(images_at + header.images_bytes());
  if (file.size() != labels_at + header.labels_bytes()) return std::nullopt;
  if (content_hash(file.substr(images_at, header.images_bytes())) != header.images_hash) return std::nullopt;
  if (content_hash(file.substr(labels_at, header.labels_bytes())) != header.labels_hash) return std::nullopt;
  const auto tensor_at = [&](size_t at, at::IntArrayRef shape, torch::ScalarType type) {
    return at::from_blob(
        mapping->data() + at, shape, [mapping](void*) {}, at::TensorOptions(type));
  };
  Dataset set;
  set.inputs = tensor_at(images_at, header.shape, torch::kUInt8);
  if (header.has_labels) set.labels = tensor_at(labels_at, {header.shape[0]}, torch::kInt64);
  set.class_names = header.class_names;
  check_dataset(set);
  return set;
}

void write_at_page(AtomicFile& file, size_t& offset, std::string_view bytes) {
  file.write(std::string(to_page(offset) - offset, '\0'));
  file.write(bytes);
  offset = to_page(offset) + bytes.size();
}

}  // namespace

std::filesystem::path prepared_copy_file(const std::filesystem::path& data_root, const std::string& name) {
  return data_root / "prepared" / (name + ".pn");
}

std::optional<Dataset> map_prepared_copy(const std::filesystem::path& file, const std::optional<std::string>& source) {
  const auto mapping = FileMapping::open(file);
  if (!mapping) return std::nullopt;
  try {
    return mapped(mapping, source);
  } catch (const Json::exception&) {  // a header of another kind
    return std::nullopt;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

bool write_prepared_copy(const std::filesystem::path& path, const Dataset& set, const std::string& source) {
  if (!set.has_images() || set.size() == 0) return false;
  const auto images = set.inputs.contiguous();
  const auto labels = set.has_labels() ? set.labels.contiguous() : torch::empty({0}, torch::kInt64);
  const Json header = {{"reader", kReaderVersion},
                       {"source", source},
                       {"shape", images.sizes().vec()},
                       {"has_labels", set.has_labels()},
                       {"class_names", set.class_names},
                       {"images_hash", content_hash(bytes_of(images))},
                       {"labels_hash", content_hash(bytes_of(labels))}};
  // Names out of an archive may be in any encoding.
  const auto text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  try {
    std::filesystem::create_directories(path.parent_path());
    AtomicFile file(path);
    const uint64_t numbers[2] = {text.size(), content_hash(text)};
    file.write(kMagic);
    file.write(numbers, sizeof(numbers));
    file.write(text);
    size_t offset = kHeaderAt + text.size();
    write_at_page(file, offset, bytes_of(images));
    write_at_page(file, offset, bytes_of(labels));
    file.commit();
    return true;
  } catch (const DataError&) {
    return false;
  } catch (const std::filesystem::filesystem_error&) {
    return false;
  }
}

}  // namespace priornet
