#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

// JSON to text and back, compiled in one place: nlohmann's writer and parser take a compiler one to three seconds in
// each source that calls them.

namespace priornet {

/// In one line, or with `indent` spaces per level. Bytes that are not UTF-8 become replacement characters.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);
std::string json_text(const nlohmann::json& json, int indent = -1);

/// Throws nlohmann::json::parse_error, which says where the text is no JSON.
nlohmann::ordered_json parse_json(std::string_view text);

}  // namespace priornet
