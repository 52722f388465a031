#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/experiments/recipes.h>

namespace priornet {

TrainConfig recipe(std::string_view name, const std::vector<std::string>& overrides) {
  for (const auto& known : recipes())
    if (known.name == name)
      return read_config(TomlText{fmt::format("configs/{}.toml", name), std::string(known.toml)}, overrides);
  throw ConfigError(fmt::format("there is no configs/{}.toml", name));
}

}  // namespace priornet
