#include <fmt/format.h>
#include <priornet/deploy/serve/tensor_response.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <variant>

namespace priornet::serving {
namespace {

using OutputValues = std::variant<std::vector<int64_t>, std::vector<double>, std::vector<std::string_view>>;

OutputValues values_of(const std::string& name, const ModelDescription& model, const Answers& answers) {
  if (name == "prediction") return answers.prediction;
  if (name == "probability") return answers.probability;
  if (name == "probabilities") return answers.probabilities;
  if (name == "alphas") return answers.alphas();
  if (name == "p_value") {
    std::vector<double> values;
    for (const auto& decision : answers.decisions) values.push_back(decision.p_value);
    return values;
  }
  if (name == "verdict") {
    std::vector<std::string_view> values;
    for (const auto& decision : answers.decisions) values.push_back(verdict_name(decision.verdict));
    return values;
  }
  const auto at = std::find(model.measures.begin(), model.measures.end(), name) - model.measures.begin();
  return answers.scores.at(static_cast<size_t>(at));
}

void write_json(std::string& text, int64_t value) { fmt::format_to(std::back_inserter(text), "{}", value); }
void write_json(std::string& text, std::string_view value) {
  fmt::format_to(std::back_inserter(text), "\"{}\"", value);  // a verdict: nothing to escape
}
void write_json(std::string& text, double value) {
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(text), "{}", value);
  else
    text += "null";
}

template <typename Value>
void write_bytes(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void write_bytes(std::string& bytes, std::string_view value) {
  write_bytes(bytes, static_cast<uint32_t>(value.size()));
  bytes += value;
}

}  // namespace

Response tensor_response(const ModelDescription& model, const TensorRequest& request, const Answers& answers) {
  const auto quoted = [](const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  const auto known = outputs_of(model);
  std::string binary;
  auto text = fmt::format("{{\"model_name\":{},\"model_version\":\"1\"", quoted(model.name));
  if (!request.id.empty()) text += ",\"id\":" + quoted(request.id);
  text += ",\"outputs\":[";
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const auto& [name, as_bytes] = request.outputs[i];
    const auto& output = *std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    fmt::format_to(std::back_inserter(text), R"({}{{"name":"{}","datatype":"{}","shape":[{}{}])", i == 0 ? "" : ",",
                   name, output.datatype, answers.rows,
                   output.by_class ? fmt::format(",{}", answers.classes) : std::string());
    std::visit(
        [&](const auto& values) {
          if (as_bytes) {
            const auto before = binary.size();
            for (const auto& value : values) write_bytes(binary, value);
            fmt::format_to(std::back_inserter(text), R"(,"parameters":{{"binary_data_size":{}}}}})",
                           binary.size() - before);
            return;
          }
          text += ",\"data\":[";
          for (size_t j = 0; j < values.size(); ++j) {
            if (j > 0) text += ',';
            write_json(text, values[j]);
          }
          text += "]}";
        },
        values_of(name, model, answers));
  }
  text += "]}";
  Response response;
  if (std::any_of(request.outputs.begin(), request.outputs.end(), [](const auto& output) { return output.binary; })) {
    response.headers.emplace_back("Inference-Header-Content-Length", std::to_string(text.size()));
    response.content_type = "application/octet-stream";
  }
  response.body = std::move(text) + binary;
  return response;
}

}  // namespace priornet::serving
