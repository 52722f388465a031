#pragma once

#include <priornet/core/errors.h>
#include <priornet/data/dataset.h>

#include <algorithm>

namespace priornet {

/// The labels of a set, int64 [N] on the CPU, as numbers of the classes that `whose` ("the run", a set) has: classes
/// are told by their names, for two folders number theirs differently. DataError where a row is of a class that is not
/// there.
inline torch::Tensor labels_by_name(const Dataset& set, const std::vector<std::string>& class_names,
                                    const std::string& whose) {
  const auto labels = set.labels.to(torch::kCPU);
  if (set.class_names == class_names) return labels;
  auto numbers = torch::empty({set.num_classes()}, torch::kInt64);
  for (int64_t c = 0; c < set.num_classes(); ++c) {
    const auto& name = set.class_names[static_cast<size_t>(c)];
    const auto found = std::find(class_names.begin(), class_names.end(), name);
    if (found == class_names.end() && (labels == c).any().item<bool>())
      throw DataError(set.name + ": holds the class " + name + ", which is none of " + whose + "'s");
    numbers[c] = found - class_names.begin();
  }
  return numbers.index_select(0, labels);
}

}  // namespace priornet
