#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <bit>

#include "learning/data/decoded_pixels.h"

// BMP: a header of 14 bytes, a description of the image, masks or a palette, rows from the bottom to the top (or the
// other way where the height is negative), each filled up to a multiple of four bytes. Numbers have their low byte
// first.

namespace priornet {
namespace {

constexpr size_t kFileHeader = 14;
constexpr size_t kInfoHeader = 40;  // older files have 12 bytes, newer ones more than 40; we skip the rest

enum Compression : uint32_t { kNone = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3, kMasksWithAlpha = 6 };

// The bits of a pixel that one colour takes, as a number from 0 to 255.
struct Mask {
  uint32_t bits = 0;

  uint8_t of(uint32_t pixel) const {
    if (bits == 0) return 0;
    const auto shift = std::countr_zero(bits);
    return static_cast<uint8_t>(uint64_t{(pixel & bits) >> shift} * 255 / (bits >> shift));
  }
};

class BmpReader {
 public:
  BmpReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) { read_header(); }

  ImageFacts facts() const {
    return {pixels_.height, pixels_.width, pixels_.height * pixels_.width * pixels_.channels};
  }

  Pixels read() {
    if (compression_ == kRuns8 || compression_ == kRuns4)
      expand_runs();
    else
      read_rows();
    return std::move(pixels_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw DataError(fmt::format("{}: does not decode as BMP: {}", name_, why));
  }

  uint32_t number(size_t at, size_t size) const {
    if (at + size > bytes_.size()) fail("ends too soon");
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint32_t{static_cast<unsigned char>(bytes_[at + i])} << (8 * i);
    return value;
  }

  void read_header() {
    const auto header = number(kFileHeader, 4);
    const bool old = header == 12;
    if (!old && (header < kInfoHeader || header > 1024)) fail(fmt::format("a header of {} bytes", header));
    const auto side = [&](size_t at) { return int64_t{static_cast<int32_t>(number(at, 4))}; };
    pixels_.width = old ? int64_t{number(18, 2)} : side(18);
    const auto height = old ? int64_t{number(20, 2)} : side(22);
    from_top_ = height < 0;
    pixels_.height = from_top_ ? -height : height;
    bits_ = number(old ? 24 : 28, 2);
    if (!old) compression_ = number(30, 4);
    check_image_size(name_, pixels_.height, pixels_.width, static_cast<int64_t>(bytes_.size()));
    check_kind();
    data_ = number(10, 4);
    if (bits_ <= 8)
      read_palette(kFileHeader + header, old ? 3 : 4, old ? 0 : number(46, 4));
    else
      read_masks();
  }

  void check_kind() const {
    const bool has_bits = bits_ == 1 || bits_ == 4 || bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32;
    const bool fits = compression_ == kNone || (compression_ == kRuns8 && bits_ == 8) ||
                      (compression_ == kRuns4 && bits_ == 4) ||
                      ((compression_ == kMasks || compression_ == kMasksWithAlpha) && (bits_ == 16 || bits_ == 32));
    if (!has_bits || !fits) fail(fmt::format("{} bits per pixel, compressed in way {}", bits_, compression_));
  }

  void read_palette(size_t at, size_t entry, uint32_t used) {
    const size_t most = size_t{1} << bits_;
    const auto count = used == 0 ? most : std::min<size_t>(used, most);
    pixels_.channels = 1;
    for (size_t i = 0; i < count; ++i) {
      auto& colour = palette_[i];
      for (size_t c = 0; c < 3; ++c) colour[2 - c] = static_cast<uint8_t>(number(at + i * entry + c, 1));
      if (colour[0] != colour[1] || colour[1] != colour[2]) pixels_.channels = 3;
    }
  }

  void read_masks() {
    pixels_.channels = 3;
    if (compression_ == kNone) {
      const uint32_t most = bits_ == 16 ? 0x1f : 0xff;
      const uint32_t step = bits_ == 16 ? 5 : 8;
      for (uint32_t c = 0; c < 3; ++c) masks_[2 - c].bits = most << (c * step);
    } else {
      for (size_t c = 0; c < 3; ++c) masks_[c].bits = number(kFileHeader + kInfoHeader + 4 * c, 4);
    }
  }

  uint8_t* row_at(int64_t y) {
    const auto row = from_top_ ? y : pixels_.height - 1 - y;
    return pixels_.values.data() + row * pixels_.width * pixels_.channels;
  }

  void put_index(uint8_t* to, uint32_t index) const {
    const auto& colour = palette_[index];
    std::copy_n(colour.begin(), pixels_.channels, to);
  }

  void take_memory() { pixels_.values.resize(static_cast<size_t>(pixels_.height * pixels_.width * pixels_.channels)); }

  void read_rows() {
    const auto row_bytes = (static_cast<size_t>(pixels_.width) * bits_ + 31) / 32 * 4;
    // The padding of the last row may be missing.
    const auto needed =
        row_bytes * static_cast<size_t>(pixels_.height - 1) + (static_cast<size_t>(pixels_.width) * bits_ + 7) / 8;
    if (data_ > bytes_.size() || bytes_.size() - data_ < needed) fail("ends too soon");
    take_memory();
    for (int64_t y = 0; y < pixels_.height; ++y) read_row(data_ + static_cast<size_t>(y) * row_bytes, row_at(y));
  }

  void read_row(size_t from, uint8_t* to) const {
    for (int64_t x = 0; x < pixels_.width; ++x, to += pixels_.channels) {
      const auto bit = static_cast<size_t>(x) * bits_;
      if (bits_ <= 8) {
        const auto byte = static_cast<unsigned char>(bytes_[from + bit / 8]);
        put_index(to, (byte >> (8 - bits_ - bit % 8)) & ((1U << bits_) - 1));
      } else {
        const auto pixel = number(from + bit / 8, bits_ / 8);
        for (size_t c = 0; c < 3; ++c) to[c] = masks_[c].of(pixel);
      }
    }
  }

  // Pairs of a count and a value. A count of 0 starts a row, the end, a jump, or a run of plain values.
  void expand_runs() {
    take_memory();
    for (auto* to = pixels_.values.data(); to < pixels_.values.data() + pixels_.values.size(); to += pixels_.channels)
      put_index(to, 0);
    const bool halves = compression_ == kRuns4;
    int64_t x = 0;
    int64_t y = 0;
    const auto put = [&](uint32_t index) {
      if (y >= pixels_.height || x >= pixels_.width) fail("a run of pixels goes beyond the image");
      put_index(row_at(y) + x++ * pixels_.channels, index);
    };
    const auto half = [&](uint32_t byte, uint32_t i) { return i % 2 == 0 ? byte >> 4 : byte & 15; };
    for (size_t at = data_;;) {
      const auto count = number(at, 1);
      const auto value = number(at + 1, 1);
      at += 2;
      if (count > 0) {
        for (uint32_t i = 0; i < count; ++i) put(halves ? half(value, i) : value);
      } else if (value == 0) {
        x = 0;
        ++y;
      } else if (value == 1) {
        return;
      } else if (value == 2) {
        x += number(at, 1);
        y += number(at + 1, 1);
        at += 2;
      } else {
        for (uint32_t i = 0; i < value; ++i) put(halves ? half(number(at + i / 2, 1), i) : number(at + i, 1));
        const auto size = halves ? (value + 1) / 2 : value;
        at += size + size % 2;
      }
    }
  }

  std::string_view bytes_;
  const std::string& name_;
  Pixels pixels_;
  bool from_top_ = false;
  uint32_t bits_ = 0;  ///< per pixel
  uint32_t compression_ = kNone;
  size_t data_ = 0;                                    ///< where the rows begin
  std::array<std::array<uint8_t, 3>, 256> palette_{};  ///< RGB
  std::array<Mask, 3> masks_;                          ///< red, green, blue
};

}  // namespace

ImageFacts bmp_facts(std::string_view bytes, const std::string& name) { return BmpReader(bytes, name).facts(); }

Pixels decode_bmp(std::string_view bytes, const std::string& name) { return BmpReader(bytes, name).read(); }

}  // namespace priornet
