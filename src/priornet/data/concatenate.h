#pragma once

#include <priornet/data/dataset.h>

namespace priornet {

/// The rows of the sets one after the other. Classes are known by their names: those of the first set, then those that
/// only others have. DataError, opened by the name of the set that differs, where the inputs have other shapes or
/// dtypes, or where some sets have labels and others have none. At least one set; one comes back as it is.
Dataset concatenate(const std::vector<Dataset>& sets);

}  // namespace priornet
