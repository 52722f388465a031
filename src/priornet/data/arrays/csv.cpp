#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/data/arrays/csv.h>
#include <priornet/data/arrays/csv_lines.h>

#include <limits>
#include <memory>

namespace priornet {
namespace {

class NumberReader {
 public:
  NumberReader(const std::filesystem::path& path, const std::string& only)
      : lines_(path.string(), InputFile(path).read_rest()), only_(only) {}

  NumberTable read() {
    const auto first = lines_.next();
    auto [fields, is_numbers] = parse_first_line(first);
    columns_ = static_cast<int64_t>(fields.size());
    if (is_numbers)
      read_row(first);
    else
      names_ = std::move(fields);
    while (!lines_.at_end()) read_row(lines_.next());

    if (rows_ == 0) return {std::move(names_), torch::empty({0, columns_}, torch::kFloat64)};
    // The tensor takes the numbers over; a copy would double the memory.
    auto* owner = numbers_.release();
    const auto release = [owner](void*) { delete owner; };
    return {std::move(names_), torch::from_blob(owner->data(), {rows_, columns_}, release, torch::kFloat64)};
  }

 private:
  void read_row(std::string_view line) {
    const auto whole = line;
    int64_t column = 0;
    for (bool more = true; more; ++column) {
      const auto field = take_field(line, more);
      double value = 0;
      const auto parsed = parse_csv_number(field, value);
      if (parsed != ParsedNumber::kNumber && !is_wanted(column)) {
        value = std::numeric_limits<double>::quiet_NaN();
      } else if (parsed != ParsedNumber::kNumber) {
        lines_.check_length(whole, columns_);  // the better explanation, where both are wrong
        throw DataError(fmt::format("{}: {} {}", lines_.place(column + 1), shown_field(field),
                                    parsed == ParsedNumber::kOther ? "is not a number" : "is too large for a float64"));
      }
      numbers_->push_back(value);
    }
    if (column != columns_) lines_.check_length(whole, columns_);
    ++rows_;
  }

  bool is_wanted(int64_t column) const {
    return only_.empty() || column >= columns_ || names_.empty() || names_[static_cast<size_t>(column)] == only_;
  }

  CsvLines lines_;
  const std::string& only_;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  std::vector<std::string> names_;
  std::unique_ptr<std::vector<double>> numbers_ = std::make_unique<std::vector<double>>();
};

}  // namespace

NumberTable read_csv(const std::filesystem::path& path, const std::string& only) {
  return NumberReader(path, only).read();
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace priornet
