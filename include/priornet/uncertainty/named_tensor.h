#pragma once

#include <torch/types.h>

#include <string>

namespace priornet {

/// An array of a file, or a column of a table. The name is empty if the file gives none.
struct NamedTensor {
  std::string name;
  torch::Tensor values;
};

}  // namespace priornet
