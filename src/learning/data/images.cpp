#include <priornet/learning/images.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>

#include "learning/data/decoded_pixels.h"

namespace priornet {
namespace {

using namespace std::string_view_literals;

bool has_at(std::string_view bytes, size_t at, std::string_view wanted) {
  return bytes.size() >= at && bytes.substr(at).starts_with(wanted);
}

// HEIC, AVIF and related formats say so in their file type.
bool begins_as_heif(std::string_view bytes) {
  if (!has_at(bytes, 4, "ftyp")) return false;
  for (const auto* brand : {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis"})
    if (has_at(bytes, 8, brand)) return true;
  return false;
}

template <Pixels (*Decode)(std::string_view, const std::string&)>
void read_whole(std::string_view bytes, const std::string& name, const WantedSize&, PixelRows& rows) {
  const auto pixels = Decode(bytes, name);
  rows.begin(pixels.height, pixels.width, pixels.channels);
  for (int64_t y = 0; y < pixels.height; ++y) rows.take(pixels.values.data() + y * pixels.width * pixels.channels);
}

/// A kind of image file, known by its first bytes whatever its name.
struct ImageFormat {
  const char* name;
  std::vector<std::string> endings;
  bool (*begins)(std::string_view bytes);
  ImageFacts (*facts)(std::string_view bytes, const std::string& name);
  void (*read)(std::string_view bytes, const std::string& name, const WantedSize& wanted, PixelRows& rows);
  bool decodes_as_stated = true;
};

const std::array<ImageFormat, 7> kFormats = {{
    {"PNG",
     {".png"},
     [](std::string_view b) { return b.starts_with("\x89PNG\r\n\x1a\n"); },
     png_facts,
     [](std::string_view b, const std::string& name, const WantedSize&, PixelRows& rows) { read_png(b, name, rows); }},
    {"JPEG",
     {".jpg", ".jpeg"},
     [](std::string_view b) { return b.starts_with("\xFF\xD8\xFF"); },
     jpeg_facts,
     read_jpeg},
    {"WebP",
     {".webp"},
     [](std::string_view b) { return b.starts_with("RIFF") && has_at(b, 8, "WEBP"); },
     webp_facts,
     read_webp},
    {"GIF",
     {".gif"},
     [](std::string_view b) { return b.starts_with("GIF87a") || b.starts_with("GIF89a"); },
     gif_facts,
     read_whole<decode_gif>},
    {"BMP",
     {".bmp"},
     [](std::string_view b) { return b.starts_with("BM") && has_at(b, 15, "\0\0\0"sv); },
     bmp_facts,
     read_whole<decode_bmp>},
    {"TIFF",
     {".tif", ".tiff"},
     [](std::string_view b) { return b.starts_with("II*\0"sv) || b.starts_with("MM\0*"sv); },
     tiff_facts,
     read_whole<decode_tiff>},
    {"HEIC", {".heic", ".heif", ".avif"}, begins_as_heif, heif_facts, read_whole<decode_heif>, false},
}};

const ImageFormat* known_format(std::string_view bytes) {
  for (const auto& format : kFormats)
    if (format.begins(bytes)) return &format;
  return nullptr;
}

const ImageFormat& format_of(std::string_view bytes, const std::string& name) {
  if (const auto* format = known_format(bytes)) return *format;
  std::string found;
  for (const unsigned char byte : bytes.substr(0, 8)) found += fmt::format(" {:02x}", byte);
  throw DataError(fmt::format("{}: should be a {} image, {}", name, image_format_names(),
                              found.empty() ? "found no bytes" : "begins with the bytes" + found));
}

int orientation_of(std::string_view bytes) { return begins_as_heif(bytes) ? 1 : exif_orientation(bytes); }

uint8_t grey_of(const uint8_t* rgb) {
  return static_cast<uint8_t>((19595U * rgb[0] + 38470U * rgb[1] + 7471U * rgb[2] + 0x8000U) >> 16);
}

/// Turns interleaved rows into bands of one plane per channel.
class Bands final : public PixelRows {
 public:
  Bands(Channels channels, int64_t rows, const std::function<void(const torch::Tensor&)>& take)
      : channels_(channels), rows_(rows), take_(take) {}

  void begin(int64_t height, int64_t width, int64_t channels) override {
    width_ = width;
    stored_ = channels;
    wanted_ = channels_ == Channels::kAsStored ? stored_ : channels_ == Channels::kGrey ? 1 : 3;
    rows_ = std::min(rows_, height);
    left_ = height;
    band_ = torch::empty({wanted_, rows_, width}, torch::kUInt8);
  }

  void take(const uint8_t* row) override {
    auto* to = band_.data_ptr<uint8_t>() + filled_ * width_;
    const auto plane = rows_ * width_;
    if (stored_ == 1) {
      for (int64_t c = 0; c < wanted_; ++c) std::copy_n(row, width_, to + c * plane);
    } else if (wanted_ == 1) {
      for (int64_t x = 0; x < width_; ++x) to[x] = grey_of(row + 3 * x);
    } else {
      for (int64_t x = 0; x < width_; ++x)
        for (int64_t c = 0; c < 3; ++c) to[c * plane + x] = row[3 * x + c];
    }
    ++filled_;
    --left_;
    if (filled_ < rows_ && left_ > 0) return;
    take_(band_.narrow(1, 0, filled_));
    filled_ = 0;
  }

 private:
  Channels channels_;
  int64_t rows_;
  const std::function<void(const torch::Tensor&)>& take_;
  int64_t width_ = 0;
  int64_t stored_ = 0, wanted_ = 0;  // channels
  int64_t filled_ = 0, left_ = 0;    // rows
  torch::Tensor band_;
};

}  // namespace

ImageFacts image_facts(std::string_view bytes, const std::string& name) {
  auto facts = format_of(bytes, name).facts(bytes, name);
  facts.orientation = orientation_of(bytes);
  if (facts.orientation >= 5) std::swap(facts.height, facts.width);
  return facts;
}

bool decodes_as_stated(std::string_view bytes) {
  const auto* format = known_format(bytes);
  return format == nullptr || format->decodes_as_stated;
}

torch::Tensor upright(const torch::Tensor& image, int orientation) {
  if (orientation <= 1) return image;
  const auto turned = orientation >= 5 ? image.transpose(1, 2).contiguous() : image;  // flip() keeps strides
  switch (orientation) {
    case 2:
    case 6:
      return turned.flip({2});
    case 3:
    case 7:
      return turned.flip({1, 2});
    case 4:
    case 8:
      return turned.flip({1});
    default:
      return turned;
  }
}

bool begins_as_image(std::string_view bytes) { return known_format(bytes) != nullptr; }

const std::vector<std::string>& image_endings() {
  static const auto all = [] {
    std::vector<std::string> endings;
    for (const auto& format : kFormats) endings.insert(endings.end(), format.endings.begin(), format.endings.end());
    return endings;
  }();
  return all;
}

std::string image_format_names() {
  std::vector<std::string_view> names;
  for (const auto& format : kFormats) names.emplace_back(format.name);
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

void decode_image_bands(std::string_view bytes, const std::string& name, const BandOptions& options,
                        const std::function<void(const torch::Tensor& band)>& take) {
  Bands rows(options.channels, options.rows, take);
  format_of(bytes, name).read(bytes, name, WantedSize{options.height, options.width}, rows);
}

torch::Tensor decode_image(std::string_view bytes, const std::string& name, Channels channels) {
  torch::Tensor image;
  BandOptions whole;
  whole.channels = channels;
  whole.rows = kLargestImageSide;
  decode_image_bands(bytes, name, whole, [&](const torch::Tensor& band) { image = band; });
  return upright(image, orientation_of(bytes));
}

}  // namespace priornet
