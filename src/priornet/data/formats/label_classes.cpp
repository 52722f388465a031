#include <fmt/format.h>
#include <priornet/data/arrays/csv_lines.h>
#include <priornet/data/formats/label_classes.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace priornet {
namespace {

std::optional<std::vector<double>> as_numbers(const std::vector<std::string>& texts) {
  std::vector<double> numbers;
  for (const auto& text : texts) {
    double number = 0;
    if (parse_csv_number(text, number) != ParsedNumber::kNumber || !std::isfinite(number)) return std::nullopt;
    numbers.push_back(number == 0 ? 0 : number);  // no -0
  }
  return numbers;
}

template <typename Value>
LabelClasses classes_among(const std::vector<Value>& values) {
  auto distinct = values;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  LabelClasses classes{torch::empty(static_cast<int64_t>(values.size()), torch::kInt64), {}};
  auto* label = classes.labels.data_ptr<int64_t>();
  for (const auto& value : values)
    *label++ = std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin();
  for (const auto& value : distinct) classes.names.push_back(fmt::format("{}", value));
  return classes;
}

}  // namespace

LabelClasses classes_of(const std::vector<std::string>& texts) {
  const auto numbers = as_numbers(texts);
  return numbers ? classes_among(*numbers) : classes_among(texts);
}

}  // namespace priornet
