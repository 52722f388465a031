#pragma once

#include <priornet/learning/images.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What each image library decodes to. DataError begins with `name`; in a build without the library it says so.

namespace priornet {

/// Takes the rows of an image, from the top; `channels` (1 grey or 3 RGB) bytes per pixel, from the left.
class PixelRows {
 public:
  virtual ~PixelRows() = default;
  /// Called before the first row, with the size of the image.
  virtual void begin(int64_t height, int64_t width, int64_t channels) = 0;
  virtual void take(const uint8_t* row) = 0;
};

/// The size that the caller needs: a much larger image may come smaller than it is stored.
struct WantedSize {
  int64_t height = 0;  ///< 0: as stored
  int64_t width = 0;

  /// 8, 4, 2 or 1: the largest divisor of the sides that leaves three times the wanted size, which a filter needs to
  /// give nearly the same pixels.
  int64_t divisor(int64_t stored_height, int64_t stored_width) const;
};

void read_png(std::string_view bytes, const std::string& name, PixelRows& rows);
void read_jpeg(std::string_view bytes, const std::string& name, const WantedSize& wanted, PixelRows& rows);
void read_webp(std::string_view bytes, const std::string& name, const WantedSize& wanted, PixelRows& rows);

ImageFacts png_facts(std::string_view bytes, const std::string& name);
ImageFacts jpeg_facts(std::string_view bytes, const std::string& name);
ImageFacts webp_facts(std::string_view bytes, const std::string& name);

/// A whole image: rows from the top, pixels from the left, `channels` (1 grey or 3 RGB) bytes per pixel.
struct Pixels {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  std::vector<uint8_t> values;
};

// These decode the whole image, as it is stored.
Pixels decode_gif(std::string_view bytes, const std::string& name);  ///< its first picture
Pixels decode_bmp(std::string_view bytes, const std::string& name);
Pixels decode_tiff(std::string_view bytes, const std::string& name);  ///< its first page
Pixels decode_heif(std::string_view bytes, const std::string& name);  ///< HEIC or AVIF; turned upright

ImageFacts gif_facts(std::string_view bytes, const std::string& name);
ImageFacts bmp_facts(std::string_view bytes, const std::string& name);
ImageFacts tiff_facts(std::string_view bytes, const std::string& name);
ImageFacts heif_facts(std::string_view bytes, const std::string& name);

/// Whether these are the first bytes of an image of a known kind.
bool begins_as_image(std::string_view bytes);

/// The endings of image files of all kinds: ".png", ".jpg", ...
const std::vector<std::string>& image_endings();

/// "PNG, JPEG, ... or HEIC".
std::string image_format_names();

constexpr int64_t kLargestImageSide = 16'384;
constexpr int64_t kLargestImage = int64_t{1} << 28;  ///< in pixels
/// An image of up to this many pixels is accepted, however few bytes it has.
constexpr int64_t kHarmlessImage = int64_t{1} << 22;

/// Call it before taking memory for what a header claims. DataError, which begins with `name`, for a side of 0, a size
/// above those limits, or more pixels than `bytes` bytes can describe (1-bit pixels, compressed as well as deflate
/// can).
void check_image_size(const std::string& name, int64_t height, int64_t width, int64_t bytes);

/// How the camera was held, from the EXIF tag 0x0112 of a JPEG, PNG, WebP or TIFF file: 1 (or no readable tag) for a
/// picture that is stored upright, up to 8 for one that is turned or mirrored.
int exif_orientation(std::string_view image);

}  // namespace priornet
