#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/columns.h>
#include <priornet/data/arrays/csv.h>
#include <priornet/data/arrays/file_format.h>
#include <priornet/data/arrays/npy.h>
#include <priornet/data/arrays/npz.h>

#include <algorithm>
#include <unordered_set>

namespace priornet {
namespace {

torch::Tensor checked_column(std::string_view where, const torch::Tensor& values) {
  if (values.dim() != 1)
    throw DataError(fmt::format("{}: a column should have one dimension, found shape [{}]", where,
                                fmt::join(values.sizes().begin(), values.sizes().end(), ", ")));
  return values;
}

std::vector<NamedTensor> csv_columns(const std::filesystem::path& path, const std::string& only) {
  const auto table = read_csv(path, only);
  const auto count = table.values.size(1);
  std::vector<NamedTensor> columns;
  for (int64_t i = 0; i < count; ++i) {
    const auto position = count == 1 ? std::string() : std::to_string(i);
    columns.push_back(
        {table.names.empty() ? position : table.names[static_cast<size_t>(i)], table.values.select(1, i).contiguous()});
  }
  return columns;
}

std::vector<NamedTensor> npz_columns(const std::filesystem::path& path, const std::string& only) {
  auto columns = only.empty() ? read_npz(path) : std::vector<NamedTensor>{{only, read_npz(path, only)}};
  for (const auto& [name, values] : columns) checked_column(fmt::format("{}: array {}", path.string(), name), values);
  return columns;
}

std::vector<NamedTensor> all_columns(const std::filesystem::path& path, const std::string& only) {
  switch (format_of(path, {FileFormat::kCsv, FileFormat::kNpz, FileFormat::kNpy})) {
    case FileFormat::kNpy:
      return {{"", checked_column(path.string(), read_npy(path))}};
    case FileFormat::kNpz:
      return npz_columns(path, only);
    default:
      return csv_columns(path, only);
  }
}

}  // namespace

std::vector<NamedTensor> read_columns(const std::filesystem::path& path, const std::string& only) {
  auto columns = all_columns(path, only);
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (const auto& column : columns) {
    names.push_back(column.name);
    if (!seen.insert(column.name).second)
      throw DataError(fmt::format("{}: two columns are called \"{}\"", path.string(), column.name));
  }
  if (only.empty()) return columns;

  const auto found = std::find(names.begin(), names.end(), only);
  if (found == names.end()) {
    const bool unnamed = names == std::vector<std::string>{""};
    throw DataError(
        fmt::format("{}: has no column {}; {}", path.string(), only,
                    unnamed ? "its only column has no name" : fmt::format("its columns: {}", fmt::join(names, ", "))));
  }
  return {std::move(columns[static_cast<size_t>(found - names.begin())])};
}

}  // namespace priornet
