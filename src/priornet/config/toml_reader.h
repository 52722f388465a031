#pragma once

#include <priornet/config/fields.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace priornet {

/// Goes through the keys of a configuration with a reader, a writer, ...
using FieldsVisit = std::function<void(ConfigFields&)>;

/// Sets what a TOML file gives, then what `overrides` give ("training.epochs=3", the value in TOML or plain text); the
/// other values stay. An empty path stands for an empty file.
/// ConfigError that names file, line and key: what is not TOML, a key or table nobody asks for (with the nearest one
/// that is), a value of another type or out of its range.
void read_toml(const std::filesystem::path& path, const std::vector<std::string>& overrides, const FieldsVisit& visit);

}  // namespace priornet
