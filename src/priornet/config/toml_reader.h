#pragma once

#include <priornet/config/fields.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace priornet {

/// Goes through the keys of a configuration with a reader, a writer, ...
using FieldsVisit = std::function<void(ConfigFields&)>;

struct TomlText {
  std::string name;  ///< for messages: the path of a file
  std::string text;
};

/// An empty path stands for an empty file. DataError where it cannot be read.
TomlText load_toml(const std::filesystem::path& path);

/// Sets what the TOML gives, then what `overrides` give ("training.epochs=3", the value in TOML or plain text); the
/// other values stay.
/// ConfigError that names file, line and key: what is not TOML, a key or table nobody asks for (with the nearest one
/// that is), a value of another type or out of its range.
void read_toml(const TomlText& toml, const std::vector<std::string>& overrides, const FieldsVisit& visit);
void read_toml(const std::filesystem::path& path, const std::vector<std::string>& overrides, const FieldsVisit& visit);

}  // namespace priornet
