#pragma once

#include <torch/types.h>

#include <string_view>

namespace priornet {

/// Images are uint8 [N, C, H, W] or [C, H, W] with at least one pixel each; else ArgumentError, as of core/checks.h.
void check_images(std::string_view function, const torch::Tensor& images);

}  // namespace priornet
