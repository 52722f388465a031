#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/data/concatenate.h>

#include <map>

namespace priornet {
namespace {

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

}  // namespace priornet
