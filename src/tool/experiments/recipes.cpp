#include "tool/experiments/recipes.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include "tool/base/embedded_files.h"

namespace priornet {
namespace {

constexpr std::string_view kFolder = "configs/";
constexpr std::string_view kEnding = ".toml";

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const auto& file : embedded_files())
    if (file.path.starts_with(kFolder))
      names.emplace_back(file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kEnding.size()));
  return names;
}

TrainConfig recipe(std::string_view name, const std::vector<std::string>& overrides) {
  const auto path = fmt::format("{}{}{}", kFolder, name, kEnding);
  for (const auto& file : embedded_files())
    if (file.path == path) return read_config(TomlText{path, std::string(file.text)}, overrides);
  throw ConfigError(fmt::format("there is no {}", path));
}

}  // namespace priornet
