#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/catalogue.h>
#include <priornet/data/catalogue/load.h>
#include <priornet/data/catalogue/modifiers.h>
#include <priornet/data/catalogue/path_set.h>
#include <priornet/data/catalogue/read_through_copy.h>
#include <priornet/data/concatenate.h>

#include <map>

namespace priornet {
namespace {

[[noreturn]] void fail_as_absent(const CatalogueEntry& entry, const SetPart& part, const LoadOptions& options) {
  const auto remedy = fmt::format("priornet data get {} gets it", entry.name);
  throw AbsentSet(fmt::format("{} ({}) is not below {}: {}; by hand, {}", entry.name, part.name, options.root.string(),
                              remedy, layout_by_hand(entry, options.root)),
                  remedy);
}

Dataset load_part(const CatalogueEntry& entry, const SetPart& part, const SetName& name, const LoadOptions& options) {
  const auto resize = part.resize ? resize_on_reading(name, part.resize) : std::nullopt;
  const auto name_of_copy = copy_name(entry, part, resize);
  const auto location = find_location(entry, part, options.root);
  if (!location) {
    auto copy = copy_without_source(name_of_copy, options);
    if (!copy || copy->size() != part.count) fail_as_absent(entry, part, options);
    return std::move(*copy);
  }
  return read_through_copy({name_of_copy, *location, source_files(part, *location), part.count,
                            [&] { return part.read(*location, resize); }},
                           options);
}

Dataset load_named_set(const SetName& name, const LoadOptions& options) {
  if (!in_catalogue(name.set) && name.split.empty() && is_own_set(name.set, options))
    return load_own_set(name, options);
  const auto& entry = find_entry(name.set);
  const auto& split = find_split(entry, name.split);
  bool is_resized = false;
  std::map<std::string, Dataset> parts;
  std::vector<Dataset> pieces;
  for (const auto& rows : split.rows) {
    const auto& part = find_part(entry, rows.part);
    auto loaded = parts.find(part.name);
    if (loaded == parts.end()) loaded = parts.emplace(part.name, load_part(entry, part, name, options)).first;
    pieces.push_back(slice(loaded->second, rows.first, rows.count));
    is_resized = part.resize.has_value();
  }
  return modified(concatenate(pieces), name, is_resized, options);
}

}  // namespace

Dataset load_set(const SetName& name, const LoadOptions& options) {
  try {
    auto set = name.is_path ? load_path_set(name, options) : load_named_set(name, options);
    set.name = name.text;
    return set;
  } catch (const std::filesystem::filesystem_error& error) {
    throw DataError(fmt::format("{}: cannot be read: {}", error.path1().string(), error.code().message()));
  }
}

Dataset load_set(const std::string& name, const LoadOptions& options) {
  return load_set(parse_set_name(name), options);
}

}  // namespace priornet
