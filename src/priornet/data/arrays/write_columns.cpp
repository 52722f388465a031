#include <fmt/compile.h>
#include <fmt/format.h>
#include <priornet/core/atomic_file.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/columns.h>
#include <priornet/data/arrays/csv.h>
#include <priornet/data/arrays/file_format.h>
#include <priornet/data/arrays/npz.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

namespace priornet {
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
    append(text, nlohmann::json(columns[i].name).dump());
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
