#include "tool/server/tensor_protocol.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <variant>

#include "learning/base/json_text.h"

namespace priornet::serving {
namespace {

constexpr int kDeepest = 16;
constexpr int64_t kMostValues = 4096;

// Models take float32.
float as_float(double value, size_t at) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::isfinite(value) && std::abs(value) > kLargest)
    throw ArgumentError(
        fmt::format("the data should fit float32, at most {:.3g} in size, found {} at index {}", kLargest, value, at));
  return static_cast<float>(value);
}

/// Builds the document while the parser runs.
class BoundedBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  BoundedBuilder(BoundedJson& result, const JsonOptions& options)
      : result_(result), takes_out_data_(options.takes_out_data), most_values_(kMostValues + options.more_values) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return in_data_ > 0 ? number(value ? 1.0F : 0.0F) : add(value); }
  bool number_integer(number_integer_t value) override {
    return in_data_ > 0 ? number(static_cast<float>(value)) : add(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return in_data_ > 0 ? number(static_cast<float>(value)) : add(value);
  }
  bool number_float(number_float_t value, const string_t&) override {
    return in_data_ > 0 ? number(as_float(value, result_.numbers.back().size())) : add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON has none

  bool start_object(std::size_t) override {
    descend();
    return open(nlohmann::json::object());
  }
  bool end_object() override { return close(); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }

  bool start_array(std::size_t) override {
    descend();
    if (in_data_ > 0) {
      ++in_data_;
      return true;
    }
    if (takes_out_data_ && !path_.empty() && path_.back()->is_object() && key_ == "data") {
      in_data_ = 1;
      result_.numbers.emplace_back();
      return true;
    }
    return open(nlohmann::json::array());
  }
  bool end_array() override {
    if (in_data_ == 0) return close();
    --depth_;
    if (--in_data_ > 0) return true;
    result_.numbers.back().shrink_to_fit();
    return add(result_.numbers.size() - 1);
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    constexpr int kOverflow = 406;  // nlohmann's number for this error
    if (error.id == kOverflow)
      throw ArgumentError(fmt::format("the number {} is out of range: JSON numbers are read as float64",
                                      std::string_view(token).substr(0, 64)));
    throw ArgumentError(fmt::format("the body should be JSON, but it is not JSON at byte {}", position));
  }

 private:
  void descend() {
    if (++depth_ > kDeepest)
      throw ArgumentError(fmt::format("the JSON should be nested at most {} levels deep", kDeepest));
  }

  bool number(float value) {
    result_.numbers.back().push_back(value);
    return true;
  }

  nlohmann::json* place(nlohmann::json value) {
    if (in_data_ > 0) throw ArgumentError("data should hold numbers only");
    if (++values_ > most_values_)
      throw ArgumentError(fmt::format("the JSON should hold at most {} values beside its data", most_values_));
    if (path_.empty()) {
      result_.document = std::move(value);
      return &result_.document;
    }
    auto& parent = *path_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  bool add(nlohmann::json value) {
    place(std::move(value));
    return true;
  }

  bool open(nlohmann::json value) {
    path_.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    --depth_;
    path_.pop_back();
    return true;
  }

  BoundedJson& result_;
  std::vector<nlohmann::json*> path_;  ///< stays valid: a value's siblings are added when it is closed
  std::string key_;
  int depth_ = 0;
  const bool takes_out_data_;
  const int64_t most_values_;
  int64_t values_ = 0;
  int in_data_ = 0;  ///< levels of arrays below a "data"
};

}  // namespace

BoundedJson read_bounded_json(std::string_view text, const JsonOptions& options) {
  BoundedJson result;
  BoundedBuilder builder(result, options);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return result;
}

namespace {

using nlohmann::json;

[[noreturn]] void bad_request(const std::string& reason) { throw ArgumentError(reason); }

// A member of an object that should be of this kind; nullptr if it is missing or null.
const json* member(const json& object, const char* name, json::value_t kind, const char* wanted) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return nullptr;
  const bool number = kind == json::value_t::number_unsigned && found->is_number_unsigned();
  if (!number && found->type() != kind) bad_request(fmt::format("{} should be {}", name, wanted));
  return &*found;
}

const json& needed(const json* found, const char* name) {
  if (found == nullptr) bad_request(fmt::format("{} is missing", name));
  return *found;
}

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[N, {}]", fmt::join(shape, ", ")); }

// The number of rows of a shape that fits the model.
int64_t rows_of(const json& shape, const ModelDescription& model, int64_t most_rows) {
  const auto refuse = [&] {
    bad_request(
        fmt::format("the shape of the input should be {}, found {}", shape_text(model.shape), json_text(shape)));
  };
  if (shape.size() != model.shape.size() + 1) refuse();
  for (const auto& dimension : shape)
    if (!dimension.is_number_unsigned()) refuse();
  for (size_t i = 0; i < model.shape.size(); ++i)
    if (shape[i + 1].get<uint64_t>() != static_cast<uint64_t>(model.shape[i])) refuse();
  const auto rows = shape[0].get<uint64_t>();
  if (rows == 0) refuse();
  if (rows > static_cast<uint64_t>(most_rows))
    bad_request(fmt::format("a request should hold at most {} inputs, found {}", most_rows, rows));
  return static_cast<int64_t>(rows);
}

/// A type that an input may have.
struct DataType {
  std::string_view name;
  size_t bytes;
  bool in_json;
  double (*value)(const char* bytes);
};

template <typename Value>
double plain_value(const char* bytes) {
  Value value{};
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

const DataType kDataTypes[] = {
    {"UINT8", 1, true, plain_value<uint8_t>},       {"FP16", 2, false, plain_value<c10::Half>},
    {"BF16", 2, false, plain_value<c10::BFloat16>}, {"FP32", 4, true, plain_value<float>},
    {"FP64", 8, true, plain_value<double>},
};

const DataType& data_type(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& type : kDataTypes) {
    if (type.name == name) return type;
    names.push_back(type.name);
  }
  bad_request(fmt::format("datatype should be one of {}, found {}", fmt::join(names, ", "), name.substr(0, 32)));
}

[[noreturn]] void out_of_range(const std::string& wanted, float found, size_t at) {
  bad_request(fmt::format("the data should be {}, found {} at index {}", wanted, found, at));
}

void check_values(const std::vector<float>& values, const DataType& type, const ModelDescription& model) {
  const bool bytes = type.name == "UINT8";
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = values[i];
    if (bytes && !(value >= 0 && value <= 255 && value == std::floor(value)))
      out_of_range("whole numbers in [0, 255]", value, i);
    if (!bytes && model.takes_images() && !(value >= 0 && value <= 1))
      out_of_range(fmt::format("in [0, 1], as {} pixels are", type.name), value, i);
    if (!std::isfinite(value)) out_of_range("finite numbers", value, i);
  }
}

// Values as the bytes that the model takes.
std::string model_bytes(const std::vector<float>& values, const DataType& type, const ModelDescription& model) {
  check_values(values, type, model);
  if (!model.takes_images()) return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
  const float scale = type.name == "UINT8" ? 1.0F : 255.0F;
  std::string bytes(values.size(), '\0');
  for (size_t i = 0; i < values.size(); ++i)
    bytes[i] = static_cast<char>(static_cast<unsigned char>(std::lround(values[i] * scale)));
  return bytes;
}

std::string from_binary_data(std::string_view bytes, const DataType& type, const ModelDescription& model) {
  if (type.name == "UINT8" && model.takes_images()) return std::string(bytes);
  std::vector<float> values(bytes.size() / type.bytes);
  for (size_t i = 0; i < values.size(); ++i) values[i] = as_float(type.value(bytes.data() + i * type.bytes), i);
  return model_bytes(values, type, model);
}

void read_input(const BoundedJson& header, std::string_view binary, const ModelDescription& model, int64_t most_rows,
                TensorRequest& request) {
  const auto& inputs = needed(member(header.document, "inputs", json::value_t::array, "an array"), "inputs");
  if (inputs.size() != 1 || !inputs[0].is_object())
    bad_request(fmt::format("inputs should hold one tensor, found {}", inputs.size()));
  const auto& input = inputs[0];
  const auto text = [&](const char* name) -> const std::string& {
    return needed(member(input, name, json::value_t::string, "a string"), name).get_ref<const std::string&>();
  };
  if (const auto& name = text("name"); name != kInputName)
    bad_request(fmt::format("there is no input '{}'; the input is {}", name.substr(0, 64), kInputName));
  const auto& type = data_type(text("datatype"));
  request.rows = rows_of(needed(member(input, "shape", json::value_t::array, "an array"), "shape"), model, most_rows);
  const auto wanted = static_cast<size_t>(request.rows * model.values_per_row());

  const auto* parameters = member(input, "parameters", json::value_t::object, "an object");
  const auto* size = parameters == nullptr
                         ? nullptr
                         : member(*parameters, "binary_data_size", json::value_t::number_unsigned, "a whole number");
  if (size != nullptr) {
    const auto bytes = wanted * type.bytes;
    if (size->get<uint64_t>() != bytes || binary.size() != bytes)
      bad_request(fmt::format("the input should have {} bytes of binary data, found {}, and binary_data_size says {}",
                              bytes, binary.size(), size->get<uint64_t>()));
    request.inputs = from_binary_data(binary, type, model);
    return;
  }
  if (!binary.empty()) bad_request(fmt::format("{} bytes of binary data, but no binary_data_size", binary.size()));
  if (!type.in_json) bad_request(fmt::format("{} should come as binary data: JSON has no such numbers", type.name));
  const auto data = input.find("data");
  if (data == input.end() || data->is_null()) bad_request("data is missing");
  if (header.numbers.size() != 1 || !data->is_number_unsigned()) bad_request("data should be one array of numbers");
  const auto& values = header.numbers.front();
  if (values.size() != wanted)
    bad_request(fmt::format("data should hold {} numbers, as the shape says, found {}", wanted, values.size()));
  request.inputs = model_bytes(values, type, model);
}

bool flag(const json* parameters, const char* name, bool otherwise) {
  const auto* found =
      parameters == nullptr ? nullptr : member(*parameters, name, json::value_t::boolean, "true or false");
  return found == nullptr ? otherwise : found->get<bool>();
}

int64_t classes_of(const json* parameters, const OutputDescription& output, const ModelDescription& model) {
  const auto* found = parameters == nullptr
                          ? nullptr
                          : member(*parameters, "classification", json::value_t::number_unsigned, "a whole number");
  if (found == nullptr || found->get<uint64_t>() == 0) return 0;
  if (!output.by_class)
    bad_request(
        fmt::format("classification is for outputs with one value per class, and {} is not one of them", output.name));
  return static_cast<int64_t>(std::min<uint64_t>(found->get<uint64_t>(), model.class_names.size()));
}

void read_outputs(const json& document, const ModelDescription& model, TensorRequest& request) {
  const bool binary =
      flag(member(document, "parameters", json::value_t::object, "an object"), "binary_data_output", false);
  const auto known = outputs_of(model);
  const auto* outputs = member(document, "outputs", json::value_t::array, "an array");
  if (outputs == nullptr || outputs->empty()) {
    for (const auto& output : known) request.outputs.push_back({output.name, binary, 0});
    return;
  }
  for (const auto& output : *outputs) {
    if (!output.is_object()) bad_request("outputs should hold objects");
    const auto& name = needed(member(output, "name", json::value_t::string, "a string"), "the name of an output")
                           .get_ref<const std::string&>();
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const auto& one : known) names.push_back(one.name);
      bad_request(
          fmt::format("there is no output '{}'; the outputs are {}", name.substr(0, 64), fmt::join(names, ", ")));
    }
    if (std::any_of(request.outputs.begin(), request.outputs.end(), [&](const auto& one) { return one.name == name; }))
      bad_request(fmt::format("the output '{}' is named twice", name));
    const auto* parameters = member(output, "parameters", json::value_t::object, "an object");
    request.outputs.push_back({name, flag(parameters, "binary_data", binary), classes_of(parameters, *found, model)});
  }
}

size_t json_length(std::string_view body, std::string_view header_length) {
  if (header_length.empty()) return body.size();
  size_t length = 0;
  const auto* end = header_length.data() + header_length.size();
  const auto [stop, error] = std::from_chars(header_length.data(), end, length);
  if (error != std::errc() || stop != end || length > body.size())
    bad_request(fmt::format("Inference-Header-Content-Length should be at most the body's {} bytes, found '{}'",
                            body.size(), header_length.substr(0, 32)));
  return length;
}

}  // namespace

TensorRequest read_tensor_request(const ModelDescription& model, std::string_view body, std::string_view header_length,
                                  int64_t most_rows) {
  const auto length = json_length(body, header_length);
  const auto header = read_bounded_json(body.substr(0, length), {.takes_out_data = true});
  if (!header.document.is_object()) bad_request("the body should be a JSON object");
  TensorRequest request;
  if (const auto* id = member(header.document, "id", json::value_t::string, "a string"))
    request.id = id->get<std::string>();
  read_outputs(header.document, model, request);
  read_input(header, body.substr(length), model, most_rows, request);
  return request;
}

namespace {

using OutputValues =
    std::variant<std::vector<int64_t>, std::vector<double>, std::vector<std::string_view>, std::vector<std::string>>;

// The best `count` classes of each row, best first, as in the classification extension.
std::vector<std::string> best_classes(const std::vector<double>& values, int64_t count, const ModelDescription& model) {
  const auto classes = static_cast<int64_t>(model.class_names.size());
  std::vector<std::string> texts;
  std::vector<int64_t> order(static_cast<size_t>(classes));
  for (size_t row = 0; row < values.size(); row += static_cast<size_t>(classes)) {
    const auto value = [&](int64_t index) { return values[row + static_cast<size_t>(index)]; };
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](int64_t a, int64_t b) { return value(a) > value(b) || (value(a) == value(b) && a < b); });
    for (int64_t i = 0; i < count; ++i) {
      const auto index = order[static_cast<size_t>(i)];
      texts.push_back(fmt::format("{:f}:{}:{}", value(index), index, model.class_names[static_cast<size_t>(index)]));
    }
  }
  return texts;
}

OutputValues values_of(const std::string& name, const ModelDescription& model, const PlainPredictions& answers) {
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
  if (name == "verdict_by") {
    std::vector<std::string_view> values;
    for (const auto& decision : answers.decisions) values.push_back(decision.watch);
    return values;
  }
  const auto at = std::find(model.measures.begin(), model.measures.end(), name) - model.measures.begin();
  return answers.scores.at(static_cast<size_t>(at));
}

void write_json(std::string& text, int64_t value) { fmt::format_to(std::back_inserter(text), "{}", value); }
std::string json_string(std::string_view text) { return json_text(nlohmann::json(text)); }
void write_json(std::string& text, std::string_view value) { text += json_string(value); }
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
void write_bytes(std::string& bytes, const std::string& value) { write_bytes(bytes, std::string_view(value)); }

}  // namespace

Response tensor_response(const ModelDescription& model, const TensorRequest& request, const PlainPredictions& answers) {
  const auto known = outputs_of(model);
  std::string binary;
  auto text = fmt::format("{{\"model_name\":{},\"model_version\":\"1\"", json_string(model.name));
  if (request.id) text += ",\"id\":" + json_string(*request.id);
  text += ",\"outputs\":[";
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const auto& [name, as_bytes, classes] = request.outputs[i];
    const auto& output = *std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    fmt::format_to(std::back_inserter(text), R"({}{{"name":"{}","datatype":"{}","shape":[{}{}])", i == 0 ? "" : ",",
                   name, classes > 0 ? "BYTES" : output.datatype, answers.rows,
                   output.by_class ? fmt::format(",{}", classes > 0 ? classes : answers.classes) : std::string());
    auto output_values = values_of(name, model, answers);
    if (classes > 0) output_values = best_classes(std::get<std::vector<double>>(output_values), classes, model);
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
        output_values);
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
