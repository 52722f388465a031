#include <priornet/learning/logits.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/columns.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>

#include "learning/data/csv.h"
#include "learning/data/npy.h"
#include "learning/data/npz.h"

namespace priornet {
namespace {

template <typename... Args>
[[noreturn]] void fail(const std::filesystem::path& path, fmt::format_string<Args...> format, Args&&... args) {
  throw DataError(fmt::format("{}: {}", path.string(), fmt::format(format, std::forward<Args>(args)...)));
}

std::string shape_of(const torch::Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes().begin(), tensor.sizes().end(), ", "));
}

const char* name_of_integers(torch::ScalarType type) {
  return type == torch::kUInt8 ? "uint8" : type == torch::kInt32 ? "int32" : "int64";
}

std::string choose_array(const std::filesystem::path& path) {
  const auto names = npz_names(path);
  if (names.empty()) fail(path, "holds no arrays");
  if (names.size() == 1) return names.front();
  if (std::find(names.begin(), names.end(), "logits") != names.end()) return "logits";
  fail(path, "has several arrays and none is called logits: say which of {}", fmt::join(names, ", "));
}

// A header taken for a row, or a row for a header, would go unnoticed, and so would an index taken for a class.
void check_first_line(const std::filesystem::path& path, const NumberTable& table) {
  const auto is_number = [](const std::string& name) {
    double ignored = 0;
    return parse_csv_number(name, ignored) != ParsedNumber::kOther;
  };
  const auto& names = table.names;
  auto odd = std::find(names.begin(), names.end(), "");
  if (odd == names.end() && std::any_of(names.begin(), names.end(), is_number))
    odd = std::find_if_not(names.begin(), names.end(), is_number);
  if (odd != names.end())
    fail(path, "line 1, column {}: found {}: wanted numbers alone, or a name for every class", odd - names.begin() + 1,
         shown_field(*odd));

  const auto classes = table.values.size(1);
  if (names.empty() && classes >= 3 && table.values[0].equal(torch::arange(classes, torch::kFloat64)))
    fail(path, "line 1 counts from 0 to {} as a header does: wanted logits, or names that are no numbers", classes - 1);
}

torch::Tensor read_csv_logits(const std::filesystem::path& path) {
  const auto table = read_csv(path);
  check_first_line(path, table);
  return table.values;
}

torch::Tensor read_array(const std::filesystem::path& path, const LogitsOptions& options) {
  const auto format = format_of(path, {FileFormat::kNpy, FileFormat::kNpz, FileFormat::kCsv});
  if (!options.array.empty() && format != FileFormat::kNpz)
    fail(path, "has no array {}: only an .npz names its arrays", options.array);
  if (format == FileFormat::kNpy) return read_npy(path);
  if (format == FileFormat::kNpz) return read_npz(path, options.array.empty() ? choose_array(path) : options.array);
  return read_csv_logits(path);
}

template <typename T>
int64_t first_not_finite(const torch::Tensor& logits) {
  const auto* begin = logits.data_ptr<T>();
  const auto* end = begin + logits.numel();
  const auto* found = std::find_if_not(begin, end, [](T value) { return std::isfinite(value); });
  return found == end ? -1 : found - begin;
}

void check_finite(const std::filesystem::path& path, const torch::Tensor& logits) {
  const bool single = logits.scalar_type() == torch::kFloat32;
  const auto index = single ? first_not_finite<float>(logits) : first_not_finite<double>(logits);
  if (index < 0) return;
  const auto value = logits.flatten()[index].item<double>();
  const auto column = index % logits.size(-1);
  const auto row = index / logits.size(-1) % logits.size(-2);
  if (logits.dim() == 2) {
    fail(path, "logits[{}, {}] is {}: row {}, column {} (from 0) should be finite", row, column, value, row, column);
  }
  const auto member = index / (logits.size(-1) * logits.size(-2));
  fail(path, "logits[{}, {}, {}] is {}: member {}, row {}, column {} (from 0) should be finite", member, row, column,
       value, member, row, column);
}

torch::Tensor read_one(const std::filesystem::path& path, const LogitsOptions& options) {
  auto logits = read_array(path, options);
  if (logits.scalar_type() != torch::kFloat32 && logits.scalar_type() != torch::kFloat64)
    fail(path, "logits should be float32 or float64, found {}", name_of_integers(logits.scalar_type()));
  if (logits.dim() != 2 && logits.dim() != 3)
    fail(path, "logits should be [N, K], or [M, N, K] for an ensemble, found shape {}", shape_of(logits));
  if (logits.size(-1) < 2) fail(path, "logits should have at least 2 classes, found shape {}", shape_of(logits));
  if (logits.numel() == 0) fail(path, "holds no rows: shape {}", shape_of(logits));
  check_finite(path, logits);
  return logits;
}

}  // namespace

torch::Tensor read_logits(const std::vector<std::filesystem::path>& paths, const LogitsOptions& options) {
  if (paths.empty()) throw ArgumentError("read_logits: paths should be at least one file, found none");
  auto first = read_one(paths.front(), options);
  if (paths.size() == 1) return first;

  std::vector<torch::Tensor> members = {first};
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i > 0) members.push_back(read_one(paths[i], options));
    const auto& member = members.back();
    if (member.dim() != 2) fail(paths[i], "a member should be [N, K], found shape {}", shape_of(member));
    if (member.sizes() != first.sizes())
      fail(paths[i], "has shape {}, {} has {}", shape_of(member), paths.front().string(), shape_of(first));
  }
  const bool any_double = std::any_of(members.begin(), members.end(),
                                      [](const auto& member) { return member.scalar_type() == torch::kFloat64; });
  if (any_double)
    for (auto& member : members) member = member.to(torch::kFloat64);
  return torch::stack(members);
}

}  // namespace priornet
