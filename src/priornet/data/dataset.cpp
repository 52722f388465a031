#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/data/dataset.h>

#include <map>

namespace priornet {
namespace {

Dataset with_rows(const Dataset& set, torch::Tensor inputs, torch::Tensor labels) {
  return {set.name, std::move(inputs), std::move(labels), set.class_names, set.feature_names};
}

// Labels that number the classes of `names`, which grow by those that are new.
torch::Tensor renumbered(const Dataset& set, std::vector<std::string>& names, std::map<std::string, int64_t>& numbers) {
  std::vector<int64_t> number_of;
  for (const auto& name : set.class_names) {
    const auto [found, is_new] = numbers.try_emplace(name, static_cast<int64_t>(names.size()));
    if (is_new) names.push_back(name);
    number_of.push_back(found->second);
  }
  return torch::tensor(number_of, torch::kInt64).index_select(0, set.labels);
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

Dataset concatenate(const std::vector<Dataset>& sets) {
  check_range("concatenate", "number of sets", !sets.empty(), "at least 1", 0);
  const auto& first = sets.front();
  if (sets.size() == 1) return first;
  Dataset whole{first.name, {}, {}, {}, first.feature_names};
  std::vector<torch::Tensor> inputs, labels;
  std::map<std::string, int64_t> numbers;
  for (const auto& set : sets) {
    if (set.inputs.scalar_type() != first.inputs.scalar_type() ||
        set.inputs.sizes().slice(1) != first.inputs.sizes().slice(1))
      throw DataError(fmt::format("{}: inputs should have the shape and dtype of {}", set.name, first.name));
    if (set.has_labels() != first.has_labels())
      throw DataError(
          fmt::format("{}: has {} labels, unlike {}", set.name, set.has_labels() ? "its" : "no", first.name));
    inputs.push_back(set.inputs);
    if (set.has_labels()) labels.push_back(renumbered(set, whole.class_names, numbers));
  }
  whole.inputs = torch::cat(inputs);
  if (first.has_labels()) whole.labels = torch::cat(labels);
  return whole;
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
