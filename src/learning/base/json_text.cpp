#include "learning/base/json_text.h"

#include <priornet/uncertainty/detection.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace priornet {

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::ordered_json parse_json(std::string_view text) { return nlohmann::ordered_json::parse(text); }

nlohmann::ordered_json number_json(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

double number_of(const nlohmann::ordered_json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

namespace {

template <class Json>
int64_t whole_number(const Json& json) {
  if (json.is_number_unsigned() && json.template get<uint64_t>() > std::numeric_limits<int64_t>::max())
    throw nlohmann::json::out_of_range::create(406, "the number is too large", nullptr);
  return json.template get_ref<const typename Json::number_integer_t&>();  // throws for numbers with a fraction
}

template <class Json>
int64_t whole_number(const Json& object, const char* key, int64_t otherwise) {
  const auto found = object.find(key);
  return found == object.end() ? otherwise : whole_number(*found);
}

}  // namespace

int64_t whole_number_of(const nlohmann::json& json) { return whole_number(json); }
int64_t whole_number_of(const nlohmann::ordered_json& json) { return whole_number(json); }

std::vector<int64_t> whole_numbers_of(const nlohmann::json& list) {
  std::vector<int64_t> numbers;
  for (const auto& number : list) numbers.push_back(whole_number(number));
  return numbers;
}

int64_t whole_number_of(const nlohmann::json& object, const char* key, int64_t otherwise) {
  return whole_number(object, key, otherwise);
}
int64_t whole_number_of(const nlohmann::ordered_json& object, const char* key, int64_t otherwise) {
  return whole_number(object, key, otherwise);
}

nlohmann::ordered_json estimate_json(const Estimate& estimate) {
  return {
      {"value", number_json(estimate.value)}, {"low", number_json(estimate.low)}, {"high", number_json(estimate.high)}};
}

Estimate estimate_of(const nlohmann::ordered_json& json) {
  return {number_of(json.at("value")), number_of(json.at("low")), number_of(json.at("high"))};
}

}  // namespace priornet
