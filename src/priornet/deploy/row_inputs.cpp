#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/csv_lines.h>
#include <priornet/data/arrays/npy_header.h>
#include <priornet/deploy/row_inputs.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace priornet {
namespace {

constexpr size_t kLongestLine = size_t{1} << 26;

// A line without its end; false at the end of the stream.
bool read_line(std::istream& bytes, std::string& line, const std::string& name) {
  line.clear();
  auto* buffer = bytes.rdbuf();
  constexpr auto kEnd = std::istream::traits_type::eof();
  auto c = buffer->sbumpc();
  if (c == kEnd) return false;
  for (; c != kEnd && c != '\n'; c = buffer->sbumpc()) {
    line.push_back(static_cast<char>(c));
    if (line.size() > kLongestLine) throw DataError(fmt::format("{}: has a line above {} bytes", name, kLongestLine));
  }
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

class CsvInputs final : public InputSource {
 public:
  CsvInputs(std::istream& bytes, std::string name, const Preprocessing& preprocessing)
      : bytes_(bytes), name_(std::move(name)), features_(preprocessing.shape.at(0)) {
    if (!read_line(bytes_, line_, name_)) throw DataError(name_ + ": is empty");
    if (line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);
    const auto first = parse_first_line(line_);
    columns_ = first.fields.size();
    held_ = first.is_numbers;
    find_columns(first, preprocessing.feature_names);
  }

  std::optional<Input> next() override {
    do {
      if (!held_ && !read_line(bytes_, line_, name_)) return std::nullopt;
      held_ = false;
    } while (line_.find_first_not_of(" \t") == std::string::npos);
    Input input;
    input.name = name_;
    input.row = row_++;
    input.error = parse(input.value);
    if (!input.error.empty()) input.value = torch::Tensor();
    return input;
  }

 private:
  void find_columns(const FirstLine& first, const std::vector<std::string>& names) {
    const auto wanted = static_cast<size_t>(features_);
    if (!first.is_numbers && !names.empty()) {
      for (const auto& name : names) {
        const auto found = std::find(first.fields.begin(), first.fields.end(), name);
        if (found == first.fields.end())
          throw DataError(
              fmt::format("{}: has no column {}; its columns: {}", name_, name, fmt::join(first.fields, ", ")));
        if (std::find(found + 1, first.fields.end(), name) != first.fields.end())
          throw DataError(fmt::format("{}: two columns are called {}", name_, name));
        place_.push_back(static_cast<size_t>(found - first.fields.begin()));
      }
      return;
    }
    if (columns_ != wanted) throw DataError(fmt::format("{}: should have {} columns, has {}", name_, wanted, columns_));
    for (size_t i = 0; i < wanted; ++i) place_.push_back(i);
  }

  // What is wrong, or nothing.
  std::string parse(torch::Tensor& value) const {
    std::vector<std::string_view> fields;
    std::string_view left = line_;
    for (bool more = true; more && fields.size() <= columns_;) fields.push_back(take_field(left, more));
    if (fields.size() != columns_)
      return fmt::format("should have {} values, has {}", columns_,
                         fields.size() > columns_ ? "more" : fmt::format("{}", fields.size()));
    value = torch::empty({features_}, torch::kFloat32);
    for (size_t i = 0; i < place_.size(); ++i) {
      double number = 0;
      if (parse_csv_number(fields[place_[i]], number) != ParsedNumber::kNumber || !std::isfinite(number) ||
          std::abs(number) > std::numeric_limits<float>::max())
        return fmt::format("column {}: {} is no finite number", place_[i] + 1, shown_field(fields[place_[i]]));
      value.data_ptr<float>()[i] = static_cast<float>(number);
    }
    return "";
  }

  std::istream& bytes_;
  std::string name_;
  int64_t features_;
  std::string line_;
  size_t columns_ = 0;
  std::vector<size_t> place_;  ///< the column of each feature
  bool held_ = false;          ///< the first line is a row
  int64_t row_ = 0;
};

class StreamBytes final : public ByteStream {
 public:
  StreamBytes(std::string name, std::istream& bytes) : ByteStream(std::move(name)), bytes_(bytes) {}
  int64_t at_most() const override { return std::numeric_limits<int64_t>::max(); }

 private:
  size_t read_some(void* to, size_t size) override {
    bytes_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    return static_cast<size_t>(bytes_.gcount());
  }

  std::istream& bytes_;
};

class NpyInputs final : public InputSource {
 public:
  NpyInputs(std::istream& bytes, const std::string& name, const Predictor& predictor)
      : bytes_(name, bytes), predictor_(predictor), header_(read_npy_header(bytes_)) {
    const auto& shape = header_.shape;
    const bool images = predictor.model().preprocessing.takes_images();
    const auto wanted = predictor.model().preprocessing.shape;
    const auto& size = wanted;
    bool fits = false;
    if (images)
      fits = header_.dtype == torch::kUInt8 && (shape.size() == 3 || shape.size() == 4);
    else
      fits = header_.dtype != torch::kUInt8 && shape.size() == 2 && shape[1] == size[0];
    if (!fits)
      throw DataError(
          fmt::format("{}: should be {}, found {} [{}]", name,
                      images ? "images uint8 [N, H, W] or [N, C, H, W]" : fmt::format("numbers [N, {}]", size[0]),
                      torch::toString(header_.dtype), fmt::join(shape, ", ")));
    item_ = {shape.begin() + 1, shape.end()};
    if (images && item_.size() == 2) item_.insert(item_.begin(), 1);
    check_item(name);
  }

  std::optional<Input> next() override {
    if (row_ == header_.shape[0] || broken_) return std::nullopt;
    Input input;
    input.name = bytes_.name();
    input.row = row_++;
    try {
      auto values = torch::empty(item_, header_.dtype);
      bytes_.read_exactly(values.data_ptr(), values.nbytes(), "an input");
      input.value = prepared(values);
    } catch (const DataError& error) {
      input.error = error.what();
      if (input.error.starts_with(input.name + ": ")) input.error.erase(0, input.name.size() + 2);
      broken_ = !resizing_failed_;
      resizing_failed_ = false;
    }
    return input;
  }

 private:
  // One image at a time is held: no more than the images of a file may have.
  void check_item(const std::string& name) const {
    constexpr double kMost = 1 << 28;
    double values = 1;
    for (const auto size : item_) values *= static_cast<double>(size);
    if (values < 1 || values > kMost)
      throw DataError(fmt::format("{}: its inputs are of an absurd size, [{}]", name, fmt::join(item_, ", ")));
  }

  torch::Tensor prepared(const torch::Tensor& values) {
    resizing_failed_ = true;
    if (values.dim() == 3) {
      auto fitted = predictor_.fitted(values);
      resizing_failed_ = false;
      return fitted;
    }
    auto numbers = values.to(torch::kFloat32);
    if (!numbers.isfinite().all().item<bool>()) throw DataError("holds what is no finite number");
    resizing_failed_ = false;
    return numbers;
  }

  StreamBytes bytes_;
  const Predictor& predictor_;
  NpyHeader header_;
  std::vector<int64_t> item_;  ///< shape of one input
  int64_t row_ = 0;
  bool broken_ = false;
  bool resizing_failed_ = false;
};

}  // namespace

std::unique_ptr<InputSource> csv_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor) {
  if (predictor.model().preprocessing.takes_images())
    throw DataError(name + ": holds rows of numbers, the model takes images");
  return std::make_unique<CsvInputs>(bytes, name, predictor.model().preprocessing);
}

std::unique_ptr<InputSource> npy_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor) {
  return std::make_unique<NpyInputs>(bytes, name, predictor);
}

}  // namespace priornet
