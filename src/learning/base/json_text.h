#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

// JSON to text and back, compiled in one place: nlohmann's writer and parser take a compiler one to three seconds in
// each source that calls them. Numbers and estimates, as every file of ours holds them.

namespace priornet {

struct Estimate;

/// In one line, or with `indent` spaces per level. Bytes that are not UTF-8 become replacement characters.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);
std::string json_text(const nlohmann::json& json, int indent = -1);

/// Throws nlohmann::json::parse_error, which says where the text is no JSON.
nlohmann::ordered_json parse_json(std::string_view text);

/// JSON has finite numbers only: null stands for any other.
nlohmann::ordered_json number_json(double value);

/// NaN for null. Throws nlohmann::json::type_error for what is neither null nor a number.
double number_of(const nlohmann::ordered_json& json);

/// A whole number. get<int64_t>() would also take 2.5, and 1e60, for which the conversion is undefined. Throws
/// nlohmann::json::exception for these and for what is no number.
int64_t whole_number_of(const nlohmann::json& json);
int64_t whole_number_of(const nlohmann::ordered_json& json);

/// A list of them.
std::vector<int64_t> whole_numbers_of(const nlohmann::json& list);

/// That of a key; `otherwise` if the object lacks the key.
int64_t whole_number_of(const nlohmann::json& object, const char* key, int64_t otherwise);
int64_t whole_number_of(const nlohmann::ordered_json& object, const char* key, int64_t otherwise);

/// An object with "value", "low" and "high".
nlohmann::ordered_json estimate_json(const Estimate& estimate);

/// Throws nlohmann::json::exception if a part is missing or is no number.
Estimate estimate_of(const nlohmann::ordered_json& json);

}  // namespace priornet
