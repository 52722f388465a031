#include "learning/base/json_text.h"

#include <nlohmann/json.hpp>

namespace priornet {

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::ordered_json parse_json(std::string_view text) { return nlohmann::ordered_json::parse(text); }

}  // namespace priornet
