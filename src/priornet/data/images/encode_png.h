#pragma once

#include <torch/types.h>

#include <string>

namespace priornet {

/// The bytes of a PNG of an image, uint8 [1, H, W] (grey) or [3, H, W] (RGB); nothing is lost.
/// Another dtype or shape throws ArgumentError; a build without libpng throws DataError.
std::string encode_png(const torch::Tensor& image);

}  // namespace priornet
