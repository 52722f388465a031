#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "learning/data/decoded_pixels.h"

namespace priornet {
namespace {

// A file in memory, as libtiff reads it.
struct Source {
  std::string_view bytes;
  uint64_t at = 0;
};

Source& source_of(thandle_t handle) { return *static_cast<Source*>(handle); }

tmsize_t read_bytes(thandle_t handle, void* to, tmsize_t size) {
  auto& source = source_of(handle);
  if (source.at >= source.bytes.size()) return 0;
  const auto count = std::min(static_cast<size_t>(size), source.bytes.size() - static_cast<size_t>(source.at));
  std::memcpy(to, source.bytes.data() + source.at, count);
  source.at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }

toff_t seek(thandle_t handle, toff_t offset, int from) {
  auto& source = source_of(handle);
  if (from == SEEK_SET) source.at = offset;
  if (from == SEEK_CUR) source.at += offset;
  if (from == SEEK_END) source.at = source.bytes.size() + offset;
  return source.at;
}

int close_nothing(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return source_of(handle).bytes.size(); }

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

struct RgbaImage : TIFFRGBAImage {
  RgbaImage() : TIFFRGBAImage{} {}
  ~RgbaImage() { TIFFRGBAImageEnd(this); }
  RgbaImage(const RgbaImage&) = delete;
  RgbaImage& operator=(const RgbaImage&) = delete;
};

// The messages that libtiff would print.
void silence() {
  static const bool once = [] {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
    return true;
  }();
  static_cast<void>(once);
}

[[noreturn]] void fail(const std::string& name, const std::string& why) {
  throw DataError(fmt::format("{}: does not decode as TIFF: {}", name, why));
}

// A file whose first page is known by its size.
struct OpenTiff {
  OpenTiff(std::string_view bytes, const std::string& name) : source{bytes} {
    silence();
    // "m": read, not mapped.
    tiff.reset(TIFFClientOpen(name.c_str(), "rm", &source, read_bytes, write_nothing, seek, close_nothing, size_of,
                              nullptr, nullptr));
    if (!tiff) fail(name, "damaged header");
    if (TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) != 1 ||
        TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) != 1)
      fail(name, "it does not say its size");
    check_image_size(name, height, width, static_cast<int64_t>(bytes.size()));
    // libtiff makes room for a whole strip or tile, of all samples, before it reads the first byte of it.
    constexpr uint64_t kHarmless = uint64_t{16} << 20, kMostPerPixel = 16;
    const auto one = TIFFIsTiled(tiff.get()) != 0 ? TIFFTileSize64(tiff.get()) : TIFFStripSize64(tiff.get());
    const auto count = TIFFIsTiled(tiff.get()) != 0 ? TIFFNumberOfTiles(tiff.get()) : TIFFNumberOfStrips(tiff.get());
    // All of them are decoded, and they may lie in the same few bytes.
    if (one * count > std::max(kHarmless, kMostPerPixel * height * width))
      fail(name, "its strips or tiles are larger than its pixels need");
    uint16_t planes = PLANARCONFIG_CONTIG;
    TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_PLANARCONFIG, &planes);
    buffer = static_cast<int64_t>(one) * (planes == PLANARCONFIG_SEPARATE ? 4 : 1);  // red, green, blue, alpha
    decoded = static_cast<int64_t>(one * count);
  }

  Source source;
  std::unique_ptr<TIFF, CloseTiff> tiff;
  uint32_t height = 0;
  uint32_t width = 0;
  int64_t buffer = 0;   ///< bytes of a strip or tile; of four if the planes are stored apart
  int64_t decoded = 0;  ///< bytes of all of them
};

}  // namespace

ImageFacts tiff_facts(std::string_view bytes, const std::string& name) {
  const OpenTiff open(bytes, name);
  // RGBA, then without A; at least what is decoded, although less is held at a time, for what it costs.
  return {open.height, open.width, std::max(open.decoded, open.buffer + int64_t{4 + 3} * open.height * open.width)};
}

Pixels decode_tiff(std::string_view bytes, const std::string& name) {
  const OpenTiff open(bytes, name);
  const auto& tiff = open.tiff;
  const auto height = open.height, width = open.width;
  uint16_t samples = 1;
  uint16_t meaning = PHOTOMETRIC_RGB;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_PHOTOMETRIC, &meaning);
  // Otherwise libtiff blends a picture over black where PNG and WebP leave the alpha channel out.
  uint16_t extra = 0;
  uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff.get(), TIFFTAG_EXTRASAMPLES, &extra, &kinds) == 1 && extra == 1) {
    uint16_t as_it_is = EXTRASAMPLE_ASSOCALPHA;
    TIFFSetField(tiff.get(), TIFFTAG_EXTRASAMPLES, 1, &as_it_is);
  }
  char reason[1024] = "";
  if (TIFFRGBAImageOK(tiff.get(), reason) == 0) fail(name, reason);
  RgbaImage image;
  if (TIFFRGBAImageBegin(&image, tiff.get(), /*stop=*/1, reason) == 0) fail(name, reason);
  // As stored: the caller applies the orientation.
  image.orientation = ORIENTATION_TOPLEFT;
  image.req_orientation = ORIENTATION_TOPLEFT;
  std::vector<uint32_t> raster(static_cast<size_t>(height) * width);
  if (TIFFRGBAImageGet(&image, raster.data(), width, height) == 0) fail(name, "damaged or truncated");
  const bool grey = (meaning == PHOTOMETRIC_MINISBLACK || meaning == PHOTOMETRIC_MINISWHITE) && samples <= 2;
  Pixels pixels{height, width, grey ? 1 : 3, {}};
  pixels.values.reserve(raster.size() * static_cast<size_t>(pixels.channels));
  for (const auto pixel : raster) {
    pixels.values.push_back(static_cast<uint8_t>(TIFFGetR(pixel)));
    if (grey) continue;
    pixels.values.push_back(static_cast<uint8_t>(TIFFGetG(pixel)));
    pixels.values.push_back(static_cast<uint8_t>(TIFFGetB(pixel)));
  }
  return pixels;
}

}  // namespace priornet
