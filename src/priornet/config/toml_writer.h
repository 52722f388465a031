#pragma once

#include <priornet/config/toml_reader.h>

namespace priornet {

/// All keys with their values as a TOML file, each with a comment that says what it is: reads back as the same.
std::string to_toml(const FieldsVisit& visit);

/// The same; keys that may be left out, and were, are there as comments.
std::string to_toml_with_all_keys(const FieldsVisit& visit);

}  // namespace priornet
