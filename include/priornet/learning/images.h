#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace priornet {

/// The channels that the caller wants.
enum class Channels {
  kAsStored,  ///< 1 if the file holds grey values alone, else 3
  kGrey,      ///< 1: colours weighted by ITU-R 601-2, (19595 R + 38470 G + 7471 B + 32768) >> 16, as Pillow's "L"
  kRgb,       ///< 3
};

/// A PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, known by its first bytes, as uint8 [C, H, W]; the pixels are those
/// of Pillow. PNG: every kind; palettes become colours, 16 bits become the upper 8, 1 bit becomes 0 and 255. JPEG:
/// grey, YCbCr, RGB, CMYK and YCCK (Adobe's inverted inks, turned to RGB). WebP: still pictures. GIF: the first
/// picture. TIFF: the first page. HEIC: also AVIF. Transparency is dropped: a pixel keeps the colour it is stored with
/// (in a TIFF, the colour it has on black). The picture is upright: the orientation that the camera noted (EXIF) is
/// followed. DataError, "NAME: ...", for another format, a damaged or truncated image, a side above 16,384 or more than
/// 2^28 pixels.
torch::Tensor decode_image(std::string_view bytes, const std::string& name, Channels channels);

/// What the header of an image file says.
struct ImageFacts {
  int64_t height = 0;
  int64_t width = 0;
  /// Memory that the decoder needs until the last row, beside a few rows: none for a PNG without interlacing and a JPEG
  /// with one pass, otherwise the whole image in the form that the format stores.
  int64_t decoder_bytes = 0;
  /// As EXIF counts: 1 upright, up to 8 mirrored or turned. Height and width are those of the upright picture.
  int orientation = 1;
};

/// Nothing is decoded. DataError as above.
ImageFacts image_facts(std::string_view bytes, const std::string& name);

/// Whether decoding takes no more memory than image_facts() says, whatever the file holds. Not so for HEIC and AVIF:
/// their decoders make room for what the coded picture asks for before its size can be checked.
bool decodes_as_stated(std::string_view bytes);

struct BandOptions {
  Channels channels = Channels::kAsStored;
  int64_t rows = 64;  ///< per band
  /// The size that the image will be resized to; 0: unknown. A JPEG or WebP whose sides are at least six times as long
  /// is read at a half, a quarter or an eighth of its size, but at least three times this size: faster, with nearly the
  /// same pixels after resizing.
  int64_t height = 0;
  int64_t width = 0;
};

/// Decodes an image and hands it on as it is stored, not upright, band by band from the top, uint8 [C, at most `rows`,
/// W], so that memory holds only one band. A band is valid until `take` returns. DataError as decode_image, maybe after
/// some bands.
void decode_image_bands(std::string_view bytes, const std::string& name, const BandOptions& options,
                        const std::function<void(const torch::Tensor& band)>& take);

/// Turns an image [C, H, W] that is stored in this orientation upright.
torch::Tensor upright(const torch::Tensor& image, int orientation);

/// An image, uint8 [1, H, W] (grey) or [3, H, W] (RGB), as the bytes of a PNG file, without loss.
/// Another dtype or shape throws ArgumentError; a build without libpng throws DataError.
std::string encode_png(const torch::Tensor& image);

}  // namespace priornet
