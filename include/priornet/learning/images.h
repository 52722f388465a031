#pragma once

#include <torch/types.h>

#include <string>
#include <string_view>

namespace priornet {

/// The channels images are wanted with.
enum class Channels {
  kAsStored,  ///< 1 if the file holds grey values alone, else 3
  kGrey,      ///< 1: colours weighted by ITU-R 601-2, (19595 R + 38470 G + 7471 B + 32768) >> 16, as Pillow's "L"
  kRgb,       ///< 3
};

/// A PNG, JPEG or WebP image, known by its first bytes, as uint8 [C, H, W]; the pixels are those of Pillow.
/// PNG: every kind; palettes become colours, 16 bits become the upper 8, 1 bit becomes 0 and 255. JPEG: grey, YCbCr,
/// RGB, CMYK and YCCK (Adobe's inverted inks, turned to RGB). WebP: still pictures. Transparency is dropped: a pixel
/// keeps the colour it is stored with. An orientation tag is not followed.
/// DataError, "NAME: ...": another format, a damaged or truncated image, a side above 16,384 or more
/// than 2^28 pixels.
torch::Tensor decode_image(std::string_view bytes, const std::string& name, Channels channels);

/// The bytes of a PNG of an image, uint8 [1, H, W] (grey) or [3, H, W] (RGB); nothing is lost.
/// Another dtype or shape throws ArgumentError; a build without libpng throws DataError.
std::string encode_png(const torch::Tensor& image);

}  // namespace priornet
