#pragma once

#include <priornet/learning/transforms.h>

#include <string>
#include <string_view>

namespace priornet {

/// An image file as fit_to() would have it, uint8 [C, H, W], called `name` in errors. It is resized while it is
/// decoded: memory holds a few of its rows, beside what ImageFacts::decoder_bytes says. DataError.
torch::Tensor decode_fitted(std::string_view bytes, const std::string& name, const ImageShape& shape);

}  // namespace priornet
