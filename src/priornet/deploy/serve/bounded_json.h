#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace priornet::serving {

/// JSON from a stranger. Arrays of numbers under a key "data" are taken out, flattened row by row, so that memory stays
/// near the text's own size; in the document they are replaced by their place in `numbers`.
struct BoundedJson {
  nlohmann::json document;
  std::vector<std::vector<float>> numbers;  ///< booleans as 0 and 1
};

/// ArgumentError: not JSON (at which byte), nested deeper than 16 levels, more than 4096 values and `more` beside those
/// arrays, a text or an object inside such an array.
BoundedJson read_bounded_json(std::string_view text, int64_t more = 0);

}  // namespace priornet::serving
