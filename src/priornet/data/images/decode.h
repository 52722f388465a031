#pragma once

#include <priornet/data/images/channels.h>
#include <torch/types.h>

#include <string>
#include <string_view>

namespace priornet {

/// A PNG, JPEG or WebP image, known by its first bytes, as uint8 [C, H, W]; the pixels are those of Pillow.
/// PNG: every kind; palettes become colours, 16 bits become the upper 8, 1 bit becomes 0 and 255. JPEG: grey, YCbCr,
/// RGB, CMYK and YCCK (Adobe's inverted inks, turned to RGB). WebP: still pictures. Transparency is dropped: a pixel
/// keeps the colour it is stored with. An orientation tag is not followed.
/// DataError, "NAME: ...": another format, a damaged or truncated image, a size above the limits of image_limits.h.
torch::Tensor decode_image(std::string_view bytes, const std::string& name, Channels channels);

}  // namespace priornet
