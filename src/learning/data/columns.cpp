#include <priornet/learning/columns.h>

#include <fmt/compile.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <variant>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "learning/data/csv.h"
#include "learning/data/npy.h"

namespace priornet {
namespace {

std::string_view extension_of(FileFormat format) {
  switch (format) {
    case FileFormat::kCsv:
      return ".csv";
    case FileFormat::kJson:
      return ".json";
    case FileFormat::kNpy:
      return ".npy";
    case FileFormat::kNpz:
      return ".npz";
  }
  return "";
}

}  // namespace

FileFormat format_of(const std::filesystem::path& path, std::initializer_list<FileFormat> supported) {
  const auto extension = lower_case(path.extension().string());
  std::string wanted;
  for (const auto* format = supported.begin(); format != supported.end(); ++format) {
    if (extension == extension_of(*format)) return *format;
    wanted += format == supported.begin() ? "" : format + 1 == supported.end() ? " or " : ", ";
    wanted += extension_of(*format);
  }
  throw DataError(extension.empty()
                      ? fmt::format("{}: has no extension to tell its format: wanted {}", path.string(), wanted)
                      : fmt::format("{}: extension {} is not supported: wanted {}", path.string(), extension, wanted));
}

namespace {

torch::Tensor checked_column(std::string_view where, const torch::Tensor& values) {
  if (values.dim() != 1)
    throw DataError(fmt::format("{}: a column should have one dimension, found shape [{}]", where,
                                fmt::join(values.sizes().begin(), values.sizes().end(), ", ")));
  return values;
}

std::vector<NamedTensor> csv_columns(const std::filesystem::path& path, const std::string& only,
                                     std::vector<std::string>* texts) {
  const auto table = read_csv(path, only, texts);
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

std::vector<NamedTensor> all_columns(const std::filesystem::path& path, const std::string& only,
                                     std::vector<std::string>* texts) {
  switch (format_of(path, {FileFormat::kCsv, FileFormat::kNpz, FileFormat::kNpy})) {
    case FileFormat::kNpy:
      return {{"", checked_column(path.string(), read_npy(path))}};
    case FileFormat::kNpz:
      return npz_columns(path, only);
    default:
      return csv_columns(path, only, texts);
  }
}

}  // namespace

std::vector<NamedTensor> read_columns(const std::filesystem::path& path, const std::string& only,
                                      std::vector<std::string>* texts) {
  auto columns = all_columns(path, only, texts);
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (const auto& column : columns) {
    names.push_back(column.name);
    if (!seen.insert(column.name).second)
      throw DataError(fmt::format("{}: two columns have the name \"{}\"", path.string(), column.name));
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

namespace {

constexpr size_t kPiece = size_t{1} << 20;

using Values = std::variant<const float*, const double*, const int32_t*, const int64_t*>;

struct Column {
  torch::Tensor owner;
  Values values;
};

Values pointer_to(const torch::Tensor& tensor, const std::string& name) {
  switch (tensor.scalar_type()) {
    case torch::kFloat32:
      return tensor.data_ptr<float>();
    case torch::kFloat64:
      return tensor.data_ptr<double>();
    case torch::kInt32:
      return tensor.data_ptr<int32_t>();
    case torch::kInt64:
      return tensor.data_ptr<int64_t>();
    default:
      throw ArgumentError(fmt::format("write_columns: {} should be float32, float64, int32 or int64, found {}", name,
                                      c10::toString(tensor.scalar_type())));
  }
}

std::vector<Column> prepared(const std::vector<NamedTensor>& columns) {
  std::vector<Column> result;
  for (const auto& [name, values] : columns) {
    if (values.dim() != 1 || values.size(0) != columns.front().values.size(0))
      throw ArgumentError(
          fmt::format("write_columns: {} should be one-dimensional and as long as {}", name, columns.front().name));
    auto owner = values.detach().cpu().contiguous();
    const auto pointer = pointer_to(owner, name);
    result.push_back({std::move(owner), pointer});
  }
  return result;
}

void append(fmt::memory_buffer& text, std::string_view piece) {
  text.append(piece.data(), piece.data() + piece.size());
}

template <typename T>
void append_number(fmt::memory_buffer& text, T value) {
  fmt::format_to(fmt::appender(text), FMT_COMPILE("{}"), value);
}

template <typename T>
void append_json_number(fmt::memory_buffer& text, T value) {
  if (std::isfinite(static_cast<double>(value))) {
    append_number(text, value);
  } else {
    append(text, "null");
  }
}

void hand_over(const TextSink& sink, fmt::memory_buffer& text) {
  sink({text.data(), text.size()});
  text.clear();
}

}  // namespace

void write_columns_csv(const TextSink& sink, const std::vector<NamedTensor>& columns) {
  const auto data = prepared(columns);
  fmt::memory_buffer text;
  for (size_t i = 0; i < columns.size(); ++i) {
    append(text, i == 0 ? "" : ",");
    append(text, csv_field(columns[i].name));
  }
  append(text, "\n");
  const auto rows = columns.empty() ? 0 : columns.front().values.size(0);
  for (int64_t row = 0; row < rows; ++row) {
    for (const auto& column : data) {
      std::visit([&](const auto* values) { append_number(text, values[row]); }, column.values);
      text.push_back(',');
    }
    text.data()[text.size() - 1] = '\n';
    if (text.size() >= kPiece) hand_over(sink, text);
  }
  hand_over(sink, text);
}

void write_columns_json(const TextSink& sink, const std::vector<NamedTensor>& columns) {
  const auto data = prepared(columns);
  fmt::memory_buffer text;
  append(text, "{");
  for (size_t i = 0; i < columns.size(); ++i) {
    append(text, i == 0 ? "\n  " : ",\n  ");
    append(text, json_text(nlohmann::json(columns[i].name)));
    append(text, ": [");
    std::visit(
        [&](const auto* values) {
          for (int64_t row = 0; row < columns[i].values.size(0); ++row) {
            if (row > 0) append(text, ", ");
            append_json_number(text, values[row]);
            if (text.size() >= kPiece) hand_over(sink, text);
          }
        },
        data[i].values);
    append(text, "]");
  }
  append(text, "\n}\n");
  hand_over(sink, text);
}

void write_columns(const std::filesystem::path& path, const std::vector<NamedTensor>& columns) {
  const auto format = format_of(path, {FileFormat::kCsv, FileFormat::kJson, FileFormat::kNpz});
  if (format == FileFormat::kNpz) return write_npz(path, columns);
  AtomicFile file(path);
  const auto sink = [&](std::string_view text) { file.write(text); };
  if (format == FileFormat::kCsv) {
    write_columns_csv(sink, columns);
  } else {
    write_columns_json(sink, columns);
  }
  file.commit();
}

}  // namespace priornet
