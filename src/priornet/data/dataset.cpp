#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/data/dataset.h>

namespace priornet {
namespace {

Dataset with_rows(const Dataset& set, torch::Tensor inputs, torch::Tensor labels) {
  return {set.name, std::move(inputs), std::move(labels), set.class_names, set.feature_names};
}

}  // namespace

Dataset select(const Dataset& set, const torch::Tensor& indices) {
  return with_rows(set, set.inputs.index_select(0, indices),
                   set.has_labels() ? set.labels.index_select(0, indices) : set.labels);
}

Dataset slice(const Dataset& set, int64_t first, int64_t count) {
  check_range("slice", "first", first >= 0 && first <= set.size(), fmt::format("in [0, {}]", set.size()), first);
  check_range("slice", "count", count >= 0 && count <= set.size() - first,
              fmt::format("in [0, {}]", set.size() - first), count);
  return with_rows(set, set.inputs.narrow(0, first, count),
                   set.has_labels() ? set.labels.narrow(0, first, count) : set.labels);
}

torch::Tensor class_counts(const Dataset& set) { return torch::bincount(set.labels, {}, set.num_classes()); }

void check_dataset(const Dataset& set) {
  const auto& inputs = set.inputs;
  const auto require = [&](bool holds, const std::string& wanted) {
    if (!holds) throw DataError(fmt::format("{}: {}", set.name, wanted));
  };
  require(inputs.defined(), "holds no inputs");
  const bool images = inputs.dim() == 4 && inputs.scalar_type() == torch::kUInt8;
  const bool numbers = inputs.dim() == 2 && inputs.scalar_type() == torch::kFloat32;
  require(images || numbers,
          fmt::format("inputs should be images, uint8 [N, C, H, W], or numbers, float32 [N, D]; found "
                      "{} of rank {}",
                      c10::toString(inputs.scalar_type()), inputs.dim()));
  if (!set.has_labels()) return;
  require(set.labels.dim() == 1 && set.labels.scalar_type() == torch::kInt64, "labels should be int64 [N]");
  require(set.labels.size(0) == set.size(), fmt::format("has {} inputs but {} labels", set.size(), set.labels.size(0)));
  if (set.size() == 0) return;
  const auto wrong = set.labels.lt(0).logical_or(set.labels.ge(set.num_classes())).nonzero();
  if (wrong.size(0) == 0) return;
  const auto row = wrong[0].item<int64_t>();
  throw DataError(fmt::format("{}: label {} of row {} (from 0) should be in [0, {})", set.name,
                              set.labels[row].item<int64_t>(), row, set.num_classes()));
}

}  // namespace priornet
