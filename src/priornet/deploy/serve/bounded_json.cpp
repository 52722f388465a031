#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/deploy/serve/bounded_json.h>

namespace priornet::serving {
namespace {

constexpr int kDeepest = 16;
constexpr int64_t kMostValues = 4096;

/// Builds the document as the parser comes along.
class BoundedBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  BoundedBuilder(BoundedJson& result, int64_t most_values) : result_(result), most_values_(most_values) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return in_data_ > 0 ? number(value ? 1.0F : 0.0F) : add(value); }
  bool number_integer(number_integer_t value) override {
    return in_data_ > 0 ? number(static_cast<float>(value)) : add(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return in_data_ > 0 ? number(static_cast<float>(value)) : add(value);
  }
  bool number_float(number_float_t value, const string_t&) override {
    return in_data_ > 0 ? number(static_cast<float>(value)) : add(value);
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
    if (!path_.empty() && path_.back()->is_object() && key_ == "data") {
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

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw ArgumentError(fmt::format("the body should be JSON, which it is not at byte {}", position));
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
  const int64_t most_values_;
  int64_t values_ = 0;
  int in_data_ = 0;  ///< levels of arrays below a "data"
};

}  // namespace

BoundedJson read_bounded_json(std::string_view text, int64_t more) {
  BoundedJson result;
  BoundedBuilder builder(result, kMostValues + more);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return result;
}

}  // namespace priornet::serving
