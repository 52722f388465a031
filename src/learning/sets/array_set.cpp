#include "learning/sets/path_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/columns.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/data/npy.h"
#include "learning/data/npz.h"

namespace priornet {
namespace {

constexpr int64_t kMostClasses = 65536;  // one wrong label must not make a million names

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw DataError(fmt::format("{}: {}", name, what));
}

torch::Tensor to_numbers(const std::string& name, const torch::Tensor& values) {
  auto numbers = values.to(torch::kFloat32);
  if (const auto wrong = numbers.isfinite().logical_not().nonzero(); wrong.size(0) > 0)
    fail(name, fmt::format("inputs[{}, {}] is not a finite float32", wrong[0][0].item<int64_t>(),
                           wrong[0][1].item<int64_t>()));
  return numbers;
}

torch::Tensor to_inputs(const std::string& name, const torch::Tensor& values) {
  const auto type = values.scalar_type();
  const bool bytes = type == torch::kUInt8 && (values.dim() == 3 || values.dim() == 4);
  const bool numbers = (type == torch::kFloat32 || type == torch::kFloat64) && values.dim() == 2;
  if ((!bytes && !numbers) || values.numel() == 0)
    fail(name, fmt::format("inputs are {} [{}]: wanted images, uint8 [N, C, H, W] or [N, H, W], or numbers, float32 "
                           "or float64 [N, D], at least one",
                           c10::toString(type), fmt::join(values.sizes().begin(), values.sizes().end(), ", ")));
  if (numbers) return to_numbers(name, values);
  return values.dim() == 3 ? values.unsqueeze(1) : values;
}

torch::Tensor to_labels(const std::string& name, const torch::Tensor& values, int64_t rows) {
  if (!c10::isIntegralType(values.scalar_type(), false) || values.dim() != 1 || values.size(0) != rows)
    fail(name, fmt::format("labels are {} [{}]: wanted integers [{}]", c10::toString(values.scalar_type()),
                           fmt::join(values.sizes().begin(), values.sizes().end(), ", "), rows));
  auto labels = values.to(torch::kInt64);
  const auto wrong = labels.lt(0).logical_or(labels.ge(kMostClasses)).nonzero();
  if (wrong.size(0) > 0) {
    const auto row = wrong[0].item<int64_t>();
    fail(name, fmt::format("label {} of row {} (counted from 0) should be in [0, {})", labels[row].item<int64_t>(), row,
                           kMostClasses));
  }
  return labels;
}

}  // namespace

Dataset read_array_set(const std::filesystem::path& path) {
  const auto name = path.string();
  if (format_of(path, {FileFormat::kNpz, FileFormat::kNpy}) == FileFormat::kNpy)
    return {name, to_inputs(name, read_npy(path)), {}, {}, {}};
  const auto arrays = npz_names(path);
  const auto holds = [&](const char* array) { return std::find(arrays.begin(), arrays.end(), array) != arrays.end(); };
  if (holds("inputs") == holds("images"))
    fail(name, fmt::format("wanted an array inputs or an array images, found {}",
                           holds("inputs") ? "both" : fmt::format("{}", fmt::join(arrays, ", "))));
  Dataset set{name, to_inputs(name, read_npz(path, holds("inputs") ? "inputs" : "images")), {}, {}, {}};
  if (!holds("labels")) return set;
  set.labels = to_labels(name, read_npz(path, "labels"), set.size());
  for (int64_t i = 0; i <= set.labels.max().item<int64_t>(); ++i) set.class_names.push_back(std::to_string(i));
  return set;
}

}  // namespace priornet
