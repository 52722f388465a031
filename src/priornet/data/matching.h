#pragma once

#include <priornet/data/dataset.h>

#include <string>
#include <vector>

// Two sets are made to speak of the same columns and classes, by their names.

namespace priornet {

/// The columns of these names, in this order, whatever the order they have in the set and whatever lies beside them. A
/// set of images, one without names, or no names: the set as it is. DataError, opened by the set's name, where one is
/// missing.
Dataset with_features(const Dataset& set, const std::vector<std::string>& names);

/// The set's labels, int64 [N] on the CPU, as numbers of these classes, known by their names; as they are where the set
/// or `names` has none. DataError, opened by the set's name: a row of a class that is none of `owner`'s.
torch::Tensor labels_among(const Dataset& set, const std::vector<std::string>& names, const std::string& owner);

}  // namespace priornet
