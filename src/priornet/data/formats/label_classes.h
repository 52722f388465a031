#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

namespace priornet {

struct LabelClasses {
  torch::Tensor labels;            ///< int64 [N]: which class each text names
  std::vector<std::string> names;  ///< of the classes
};

/// The classes that texts name: their distinct values in order. Where every text is a finite number they are compared
/// and sorted as numbers, and "1" and "1.0" are one class, "1".
LabelClasses classes_of(const std::vector<std::string>& texts);

}  // namespace priornet
