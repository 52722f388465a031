#include <priornet/core/errors.h>
#include <priornet/data/arrays/tensor_file.h>
#include <priornet/data/catalogue/prepared_copy.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using Json = nlohmann::json;

}  // namespace

std::filesystem::path prepared_copy_file(const std::filesystem::path& data_root, const std::string& name) {
  return data_root / "prepared" / (name + ".safetensors");
}

std::optional<Dataset> map_prepared_copy(const std::filesystem::path& path, const std::optional<std::string>& source) {
  try {
    const auto file = read_tensor_file(path);
    if (file.metadata.at("reader") != std::to_string(kReaderVersion)) return std::nullopt;
    if (source && file.metadata.at("source") != *source) return std::nullopt;
    Dataset set;
    for (const auto& [name, values] : file.tensors) (name == "images" ? set.inputs : set.labels) = values;
    set.class_names = Json::parse(file.metadata.at("class_names")).get<std::vector<std::string>>();
    check_dataset(set);
    return set;
  } catch (const DataError&) {
    return std::nullopt;
  } catch (const std::out_of_range&) {  // somebody else's tensor file
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool write_prepared_copy(const std::filesystem::path& path, const Dataset& set, const std::string& source) {
  if (!set.has_images() || set.size() == 0) return false;
  std::vector<NamedTensor> tensors = {{"images", set.inputs}};
  if (set.has_labels()) tensors.push_back({"labels", set.labels});
  // Names out of an archive may be in any encoding.
  const auto names = Json(set.class_names).dump(-1, ' ', false, Json::error_handler_t::replace);
  try {
    std::filesystem::create_directories(path.parent_path());
    write_tensor_file(path, tensors,
                      {{"reader", std::to_string(kReaderVersion)}, {"source", source}, {"class_names", names}});
    return true;
  } catch (const DataError&) {
    return false;
  } catch (const std::filesystem::filesystem_error&) {
    return false;
  }
}

}  // namespace priornet
