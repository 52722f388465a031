#pragma once

#include <torch/types.h>

#include <string>

// Tensors as the data files of a figure.

namespace priornet {

/// As they lie in memory, row by row.
std::string figure_bytes(const torch::Tensor& tensor);

/// Points [N, 2], a line each; a NaN interrupts a gnuplot line.
std::string figure_text(const torch::Tensor& points);

}  // namespace priornet
