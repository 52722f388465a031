#include <priornet/learning/images.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/data/decoded_pixels.h"

namespace priornet {
namespace {

enum class Format { kPng, kJpeg, kWebp };

Format format_of(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return Format::kPng;
  if (bytes.starts_with("\xFF\xD8\xFF")) return Format::kJpeg;
  if (bytes.starts_with("RIFF") && bytes.substr(std::min<size_t>(8, bytes.size())).starts_with("WEBP"))
    return Format::kWebp;
  std::string found;
  for (const unsigned char byte : bytes.substr(0, 8)) found += fmt::format(" {:02x}", byte);
  throw DataError(fmt::format("{}: should be a PNG, JPEG or WebP image, {}", name,
                              found.empty() ? "found no bytes" : "begins with the bytes" + found));
}

uint8_t grey_of(const uint8_t* rgb) {
  return static_cast<uint8_t>((19595U * rgb[0] + 38470U * rgb[1] + 7471U * rgb[2] + 0x8000U) >> 16);
}

/// Rows that lie interleaved as bands of one plane per channel.
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
  switch (format_of(bytes, name)) {
    case Format::kPng:
      return png_facts(bytes, name);
    case Format::kJpeg:
      return jpeg_facts(bytes, name);
    case Format::kWebp:
      break;
  }
  return webp_facts(bytes, name);
}

void decode_image_bands(std::string_view bytes, const std::string& name, const BandOptions& options,
                        const std::function<void(const torch::Tensor& band)>& take) {
  Bands rows(options.channels, options.rows, take);
  const WantedSize wanted{options.height, options.width};
  switch (format_of(bytes, name)) {
    case Format::kPng:
      return read_png(bytes, name, rows);
    case Format::kJpeg:
      return read_jpeg(bytes, name, wanted, rows);
    case Format::kWebp:
      return read_webp(bytes, name, wanted, rows);
  }
}

torch::Tensor decode_image(std::string_view bytes, const std::string& name, Channels channels) {
  torch::Tensor image;
  BandOptions whole;
  whole.channels = channels;
  whole.rows = kLargestImageSide;
  decode_image_bands(bytes, name, whole, [&](const torch::Tensor& band) { image = band; });
  return image;
}

}  // namespace priornet
