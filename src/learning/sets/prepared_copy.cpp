#include "learning/sets/prepared_copy.h"

#include <fmt/format.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/uncertainty/errors.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "learning/base/json_text.h"

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::filesystem::path prepared_copy_file(const std::filesystem::path& data_root, const std::string& name) {
  return data_root / "prepared" / (name + ".safetensors");
}

namespace {

// What a copy holds. Its header has little room, so files are tensors too: paths, each with a zero after it, and what
// was left out as JSON.
constexpr const char* kImages = "images";
constexpr const char* kLabels = "labels";
constexpr const char* kPaths = "file_paths";
constexpr const char* kContents = "file_contents";
constexpr const char* kLeftOut = "files_left_out";

torch::Tensor bytes_of_text(const std::string& text) {
  auto bytes = torch::empty({static_cast<int64_t>(text.size())}, torch::kUInt8);
  std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

std::string text_of(const torch::Tensor& bytes) {
  return bytes.defined() ? std::string(static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()) : std::string();
}

void add_files(const SetFiles& files, std::vector<NamedTensor>& tensors) {
  if (!files.left_out.empty()) {
    auto left_out = Json::array();
    for (const auto& one : files.left_out) left_out.push_back({one.path, one.why, static_cast<int>(one.kind)});
    tensors.push_back({kLeftOut, bytes_of_text(json_text(left_out))});
  }
  if (files.rows.empty()) return;
  std::string paths;
  auto contents = torch::empty({static_cast<int64_t>(files.rows.size())}, torch::kInt64);
  for (size_t i = 0; i < files.rows.size(); ++i) {
    paths += files.rows[i].path + '\0';
    contents.data_ptr<int64_t>()[i] = static_cast<int64_t>(files.rows[i].content);
  }
  tensors.push_back({kPaths, bytes_of_text(paths)});
  tensors.push_back({kContents, contents});
}

SetFiles files_of(const torch::Tensor& paths, const torch::Tensor& contents, const torch::Tensor& left_out) {
  SetFiles files;
  std::istringstream ends(text_of(paths));
  std::string path;
  for (int64_t i = 0; contents.defined() && i < contents.size(0) && std::getline(ends, path, '\0'); ++i)
    files.rows.push_back({path, static_cast<uint64_t>(contents.data_ptr<int64_t>()[i])});
  if (!left_out.defined()) return files;
  for (const auto& item : parse_json(text_of(left_out)))
    files.left_out.push_back({item.at(0), item.at(1), static_cast<LeftOut::Kind>(whole_number_of(item.at(2)))});
  return files;
}

}  // namespace

std::optional<Dataset> map_prepared_copy(const std::filesystem::path& path, const std::optional<std::string>& source,
                                         SetFiles* files) {
  try {
    const auto file = read_tensor_file(path);
    if (file.metadata.at("reader") != std::to_string(kReaderVersion)) return std::nullopt;
    if (source && file.metadata.at("source") != *source) return std::nullopt;
    Dataset set;
    torch::Tensor paths, contents, left_out;
    const std::map<std::string_view, torch::Tensor*> places = {{kImages, &set.inputs},
                                                               {kLabels, &set.labels},
                                                               {kPaths, &paths},
                                                               {kContents, &contents},
                                                               {kLeftOut, &left_out}};
    for (const auto& [name, values] : file.tensors) *places.at(name) = values;
    if (files != nullptr) *files = files_of(paths, contents, left_out);
    set.class_names = parse_json(file.metadata.at("class_names")).get<std::vector<std::string>>();
    check_dataset(set);
    return set;
  } catch (const DataError&) {
    return std::nullopt;
  } catch (const std::out_of_range&) {  // a tensor file of another kind
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool write_prepared_copy(const std::filesystem::path& path, const Dataset& set, const std::string& source,
                         const SetFiles& files, GrowingTensorFile* pixels) {
  if (!set.has_images() || set.size() == 0) return false;
  const bool has_pixels = pixels != nullptr && pixels->has_begun();
  std::vector<NamedTensor> tensors;
  if (!has_pixels) tensors.push_back({kImages, set.inputs});
  if (set.has_labels()) tensors.push_back({kLabels, set.labels});
  add_files(files, tensors);
  const std::map<std::string, std::string> texts = {{"reader", std::to_string(kReaderVersion)},
                                                    {"source", source},
                                                    {"class_names", json_text(Json(set.class_names))}};
  try {
    std::filesystem::create_directories(path.parent_path());
    if (has_pixels)
      pixels->finish({kImages, set.inputs.sizes().vec()}, tensors, texts);
    else
      write_tensor_file(path, tensors, texts);
    return true;
  } catch (const DataError&) {
    return false;
  } catch (const std::filesystem::filesystem_error&) {
    return false;
  }
}

namespace {

Dataset read_original(const CopiedSource& source, const LoadOptions& options) {
  NoProgress silence;
  Progress& progress = options.progress == nullptr ? silence : *options.progress;
  const auto task = "reading " + source.base.string();
  progress.report(task, 0, 1);
  auto set = source.read();
  if (set.name.empty()) set.name = source.base.string();
  if (source.count > 0 && set.size() != source.count)
    throw DataError(fmt::format("{}: {} should hold {} images, found {}", source.base.string(), source.name,
                                source.count, set.size()));
  check_dataset(set);
  progress.report(task, 1, 1);
  return set;
}

}  // namespace

Dataset read_through_copy(const CopiedSource& source, const LoadOptions& options) {
  if (!options.prepared_copies) return read_original(source, options);
  const auto file = prepared_copy_file(options.root, source.name);
  // Before reading: if the files change meanwhile, the copy is out of date rather than wrong.
  const auto fingerprint = source_fingerprint(source.base, source.files);
  if (auto copy = map_prepared_copy(file, fingerprint, source.noted);
      copy && (source.count == 0 || copy->size() == source.count))
    return std::move(*copy);
  if (source.noted != nullptr) *source.noted = {};
  auto set = read_original(source, options);
  write_prepared_copy(file, set, fingerprint, source.noted != nullptr ? *source.noted : SetFiles{}, source.pixels);
  return set;
}

std::optional<Dataset> copy_without_source(const std::string& name, const LoadOptions& options) {
  if (!options.prepared_copies) return std::nullopt;
  return map_prepared_copy(prepared_copy_file(options.root, name), std::nullopt);
}

std::string copy_name(const CatalogueEntry& entry, const SetPart& part, const std::optional<ResizeOptions>& resize) {
  return entry.name + "-" + part.name + resize_suffix(resize);
}

std::string resize_suffix(const std::optional<ResizeOptions>& resize) {
  if (!resize) return "";
  const bool points = !resize->antialias && resize->resampling != Resampling::kNearest;
  return fmt::format("-{}x{}-{}{}{}", resize->height, resize->width, name_of(resize->resampling),
                     points ? "-points" : "", resize->grid == PixelGrid::kCorners ? "-corners" : "");
}

}  // namespace priornet
