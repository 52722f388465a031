#include <priornet/learning/logits.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/columns.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>

#include "learning/base/names.h"
#include "learning/data/csv.h"
#include "learning/data/npy.h"

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
  switch (type) {
    case torch::kBool:
      return "bool";
    case torch::kUInt8:
      return "uint8";
    case torch::kInt8:
      return "int8";
    case torch::kInt16:
      return "int16";
    case torch::kInt32:
      return "int32";
    default:
      return "int64";
  }
}

/// Which array of a file with several arrays is read.
struct WantedArray {
  std::string name;              ///< as the user gave it; empty: the only one, or the usual one
  const char* usual = "logits";  ///< its name in most files, and in messages
};

std::string choose_array(const std::filesystem::path& path, const std::vector<std::string>& names,
                         const WantedArray& wanted) {
  if (names.empty()) fail(path, "holds no arrays");
  const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (!wanted.name.empty()) {
    if (has(wanted.name)) return wanted.name;
    fail(path, "has no array {}: name one of {}", wanted.name, fmt::join(names, ", "));
  }
  if (names.size() == 1) return names.front();
  if (has(wanted.usual)) return wanted.usual;
  fail(path, "has several arrays and none has the name {}: name one of {}", wanted.usual, fmt::join(names, ", "));
}

// A header read as a row, a row read as a header, or an index read as a class would go unnoticed.
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
    fail(path, "line 1, column {}: found {}: wanted only numbers, or a name for every class", odd - names.begin() + 1,
         shown_field(*odd));

  const auto classes = table.values.size(1);
  if (names.empty() && classes >= 3 && table.values[0].equal(torch::arange(classes, torch::kFloat64)))
    fail(path, "line 1 counts from 0 to {} like a header: wanted logits, or names that are not numbers", classes - 1);
}

torch::Tensor read_csv_logits(const std::filesystem::path& path) {
  const auto table = read_csv(path);
  check_first_line(path, table);
  return table.values;
}

torch::Tensor read_safetensors(const std::filesystem::path& path, const WantedArray& wanted) {
  const auto file = read_tensor_file(path);
  std::vector<std::string> names;
  for (const auto& tensor : file.tensors) names.push_back(tensor.name);
  const auto values = file.at(choose_array(path, names, wanted)).clone();
  const bool half = values.scalar_type() == torch::kHalf || values.scalar_type() == torch::kBFloat16;
  return half ? values.to(torch::kFloat32) : values;
}

torch::Tensor read_array(const std::filesystem::path& path, const WantedArray& wanted) {
  if (lower_case(path.extension().string()) == ".safetensors") return read_safetensors(path, wanted);
  const auto format = format_of(path, {FileFormat::kNpy, FileFormat::kNpz, FileFormat::kCsv});
  if (!wanted.name.empty() && format != FileFormat::kNpz)
    fail(path, "has no array {}: only .npz and .safetensors name their arrays", wanted.name);
  if (format == FileFormat::kNpy) return read_npy(path);
  if (format == FileFormat::kNpz)
    return read_npz(path, wanted.name.empty() ? choose_array(path, npz_names(path), wanted) : wanted.name);
  return read_csv_logits(path);
}

template <typename T>
int64_t first_not_finite(const torch::Tensor& logits) {
  const auto* begin = logits.data_ptr<T>();
  const auto* end = begin + logits.numel();
  const auto* found = std::find_if_not(begin, end, [](T value) { return std::isfinite(value); });
  return found == end ? -1 : found - begin;
}

void check_finite(const std::filesystem::path& path, const torch::Tensor& logits, const char* what) {
  const bool single = logits.scalar_type() == torch::kFloat32;
  const auto index = single ? first_not_finite<float>(logits) : first_not_finite<double>(logits);
  if (index < 0) return;
  const auto value = logits.flatten()[index].item<double>();
  const auto column = index % logits.size(-1);
  const auto row = index / logits.size(-1) % logits.size(-2);
  if (logits.dim() == 2) {
    fail(path, "{}[{}, {}] is {}: row {}, column {} (counted from 0) should be finite", what, row, column, value, row,
         column);
  }
  const auto member = index / (logits.size(-1) * logits.size(-2));
  fail(path, "{}[{}, {}, {}] is {}: member {}, row {}, column {} (counted from 0) should be finite", what, member, row,
       column, value, member, row, column);
}

void check_numbers(const std::filesystem::path& path, const torch::Tensor& values, const char* what) {
  if (values.scalar_type() != torch::kFloat32 && values.scalar_type() != torch::kFloat64)
    fail(path, "{} should be float32 or float64, found {}", what, name_of_integers(values.scalar_type()));
}

torch::Tensor read_one(const std::filesystem::path& path, const LogitsOptions& options) {
  auto logits = read_array(path, {options.array});
  check_numbers(path, logits, "logits");
  if (logits.dim() != 2 && logits.dim() != 3)
    fail(path, "logits should be [N, K], or [M, N, K] for an ensemble, found shape {}", shape_of(logits));
  if (logits.size(-1) < 2) fail(path, "logits should have at least 2 classes, found shape {}", shape_of(logits));
  if (logits.numel() == 0) fail(path, "holds no rows: shape {}", shape_of(logits));
  if (!options.takes_any_value) check_finite(path, logits, "logits");
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

std::vector<std::string> doubts_about_logits(const torch::Tensor& logits) {
  const auto exact = logits.to(torch::kFloat64);
  std::vector<std::string> doubts;
  const auto sums_to_one = [](const torch::Tensor& rows) {
    return (rows.sum(-1) - 1).abs().max().item<double>() < 1e-3;
  };
  if (exact.ge(0).all().item<bool>() && sums_to_one(exact))
    doubts.emplace_back("every row sums to 1, as probabilities do: give logits, the values before the softmax");
  else if (exact.le(0).all().item<bool>() && sums_to_one(exact.exp()))
    doubts.emplace_back(
        "the exponentials of every row sum to 1, as for log-probabilities: give logits, since log-probabilities have "
        "lost their scale");
  if (exact.size(-1) > exact.size(-2) && exact.size(-1) > 2 && exact.size(-2) > 1)
    doubts.push_back(fmt::format("has more columns ({}) than rows ({}): columns should be classes, is it transposed?",
                                 exact.size(-1), exact.size(-2)));
  return doubts;
}

torch::Tensor read_features(const std::filesystem::path& path, int64_t rows) {
  const auto features = read_array(path, {.name = "", .usual = "features"});
  check_numbers(path, features, "features");
  if (features.dim() != 2 || features.size(1) < 1)
    fail(path, "features should be [N, F], found shape {}", shape_of(features));
  if (features.size(0) != rows) fail(path, "has features of {} inputs, but the logits have {}", features.size(0), rows);
  check_finite(path, features, "features");
  const auto single = features.to(torch::kFloat32);
  if (!single.isfinite().all().item<bool>()) fail(path, "features should be no larger than float32 holds");
  return single;
}

torch::Tensor read_labels(const std::filesystem::path& path, int64_t rows, int64_t classes) {
  auto values = format_of(path, {FileFormat::kNpy, FileFormat::kCsv}) == FileFormat::kNpy ? read_npy(path)
                                                                                          : read_csv(path).values;
  if (values.dim() == 2 && values.size(1) == 1) values = values.squeeze(1);
  if (values.dim() != 1) fail(path, "labels should be [N], found shape {}", shape_of(values));
  if (values.size(0) != rows) fail(path, "has {} labels, but the logits have {} rows", values.size(0), rows);
  const auto labels = values.to(torch::kInt64);
  const auto wrong = labels.lt(0).logical_or(labels.ge(classes)).logical_or(labels.to(values.scalar_type()).ne(values));
  if (wrong.any().item<bool>()) {
    const auto row = wrong.nonzero()[0].item<int64_t>();
    const bool from_one = labels.min().item<int64_t>() == 1 && labels.max().item<int64_t>() == classes;
    fail(path, "row {} (counted from 0) should be the number of a class, 0 to {}, found {}{}", row, classes - 1,
         values[row].item<double>(), from_one ? ": these labels seem to begin with 1; subtract 1 from each" : "");
  }
  return labels;
}

}  // namespace priornet
