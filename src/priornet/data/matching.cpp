#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/matching.h>

#include <algorithm>

namespace priornet {

Dataset with_features(const Dataset& set, const std::vector<std::string>& names) {
  const auto& found = set.feature_names;
  if (set.has_images() || names.empty() || found.empty() || found == names) return set;
  auto columns = torch::empty({static_cast<int64_t>(names.size())}, torch::kInt64);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto at = std::find(found.begin(), found.end(), names[i]);
    if (at == found.end())
      throw DataError(fmt::format("{}: has no column {}; its columns: {}", set.name, names[i], fmt::join(found, ", ")));
    columns[static_cast<int64_t>(i)] = at - found.begin();
  }
  auto result = set;
  result.inputs = set.inputs.index_select(1, columns.to(set.inputs.device()));
  result.feature_names = names;
  return result;
}

torch::Tensor labels_among(const Dataset& set, const std::vector<std::string>& names, const std::string& owner) {
  const auto labels = set.labels.to(torch::kCPU);
  if (set.class_names == names || names.empty() || set.class_names.empty()) return labels;
  auto renumbered = torch::empty({set.num_classes()}, torch::kInt64);
  for (int64_t c = 0; c < set.num_classes(); ++c) {
    const auto& name = set.class_names[static_cast<size_t>(c)];
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end() && (labels == c).any().item<bool>())
      throw DataError(fmt::format("{}: holds the class {}, which is none of {}'s", set.name, name, owner));
    renumbered[c] = found - names.begin();
  }
  return renumbered.index_select(0, labels);
}

}  // namespace priornet
