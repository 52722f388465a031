#include <fmt/format.h>
#include <fmt/ranges.h>
#include <png.h>
#include <priornet/learning/images.h>
#include <priornet/uncertainty/errors.h>

#include <csetjmp>
#include <cstring>
#include <vector>

#include "learning/data/decoded_pixels.h"

// libpng leaves a failed call by longjmp. Every setjmp below stands in a function of its own (attempt) that owns
// nothing, and neither does any function that is jumped over: objects with destructors live in the caller.

namespace priornet {
namespace {

// For reading and writing: where the bytes come from or go to, and what went wrong.
struct Transfer {
  std::string_view unread;
  std::string* written = nullptr;
  bool out_of_memory = false;
  char reason[160] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp reason) {
  auto& transfer = *static_cast<Transfer*>(png_get_error_ptr(png));
  std::strncpy(transfer.reason, reason, sizeof transfer.reason - 1);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, size_t size) {
  auto& transfer = *static_cast<Transfer*>(png_get_io_ptr(png));
  if (size > transfer.unread.size()) png_error(png, "ends too soon");
  std::memcpy(to, transfer.unread.data(), size);
  transfer.unread.remove_prefix(size);
}

void write_bytes(png_structp png, png_bytep from, size_t size) {
  auto& transfer = *static_cast<Transfer*>(png_get_io_ptr(png));
  try {
    transfer.written->append(reinterpret_cast<const char*>(from), size);
    return;
  } catch (const std::bad_alloc&) {
    transfer.out_of_memory = true;
  }
  png_error(png, "out of memory");
}

struct PngReader {
  explicit PngReader(Transfer& transfer)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &transfer, on_error, ignore_warning)),
        info(png == nullptr ? nullptr : png_create_info_struct(png)) {
    if (info == nullptr) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png, &transfer, read_bytes);
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  png_structp png;
  png_infop info;
};

struct Writer {
  explicit Writer(Transfer& transfer)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &transfer, on_error, ignore_warning)),
        info(png == nullptr ? nullptr : png_create_info_struct(png)) {
    if (info == nullptr) {
      png_destroy_write_struct(&png, nullptr);
      throw std::bad_alloc();
    }
    png_set_write_fn(png, &transfer, write_bytes, [](png_structp) {});
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  png_structp png;
  png_infop info;
};

// Whether work(arguments...) finished.
template <class... Arguments>
bool attempt(png_structp png, void (*work)(png_structp, Arguments...), Arguments... arguments) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  work(png, arguments...);
  return true;
}

// What is not needed for the pixels is skipped unread: a few kilobytes of compressed text may unpack to gigabytes.
// Orientation is read elsewhere.
void skip_other_chunks(png_structp png) {
  static constexpr png_byte kOthers[] =
      "tEXt\0zTXt\0iTXt\0iCCP\0sPLT\0eXIf\0hIST\0pCAL\0sCAL\0tIME\0pHYs\0oFFs\0bKGD\0cHRM\0gAMA\0sBIT\0sRGB";
  constexpr int kCount = sizeof kOthers / 5;
  static_assert(sizeof kOthers % 5 == 0);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kOthers, kCount);
}

void read_header(png_structp png, png_infop info) {
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_image_size has its own limit
  skip_other_chunks(png);
  png_read_info(png, info);
}

// Eight bits per channel, grey or RGB.
void expand(png_structp png, png_infop info) {
  const auto colour = png_get_color_type(png, info);
  png_set_strip_16(png);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (colour == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

void read_image(png_structp png, png_bytepp rows) { png_read_image(png, rows); }
void read_row(png_structp png, png_bytep row) { png_read_row(png, row, nullptr); }
void read_end(png_structp png) { png_read_end(png, nullptr); }

struct Header {
  int64_t height, width;
  int colour;
};

void write_image(png_structp png, png_infop info, const Header* header, png_bytepp rows) {
  png_set_IHDR(png, info, static_cast<png_uint_32>(header->width), static_cast<png_uint_32>(header->height), 8,
               header->colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, nullptr);
}

std::vector<png_bytep> rows_of(uint8_t* values, int64_t height, int64_t row_bytes) {
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < height; ++y) rows.push_back(values + y * row_bytes);
  return rows;
}

}  // namespace

ImageFacts png_facts(std::string_view bytes, const std::string& name) {
  // Signature, length and "IHDR", then width, height, depth, colour, compression, filter and interlacing.
  constexpr size_t kHeader = 33;
  if (bytes.size() < kHeader || bytes.substr(12, 4) != "IHDR")
    throw DataError(fmt::format("{}: does not decode as PNG: it has no header", name));
  const auto byte = [&](size_t at) { return static_cast<int64_t>(static_cast<unsigned char>(bytes[at])); };
  const auto number = [&](size_t at) { return byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3); };
  ImageFacts facts{number(20), number(16), 0};
  check_image_size(name, facts.height, facts.width, static_cast<int64_t>(bytes.size()));
  if (byte(28) != 0) facts.decoder_bytes = 3 * facts.height * facts.width;  // interlaced: each pass is everywhere
  return facts;
}

void read_png(std::string_view bytes, const std::string& name, PixelRows& rows) {
  Transfer transfer{bytes};
  const PngReader reader(transfer);
  const auto require = [&](bool worked) {
    if (!worked)
      throw DataError(fmt::format("{}: does not decode as PNG: {} (byte {} of {})", name, transfer.reason,
                                  bytes.size() - transfer.unread.size(), bytes.size()));
  };
  require(attempt(reader.png, read_header, reader.info));
  const int64_t height = png_get_image_height(reader.png, reader.info);
  const int64_t width = png_get_image_width(reader.png, reader.info);
  check_image_size(name, height, width, static_cast<int64_t>(bytes.size()));
  const bool interlaced = png_get_interlace_type(reader.png, reader.info) != PNG_INTERLACE_NONE;
  require(attempt(reader.png, expand, reader.info));
  const int64_t channels = png_get_channels(reader.png, reader.info);
  const auto row_bytes = width * channels;
  if ((channels != 1 && channels != 3) || static_cast<int64_t>(png_get_rowbytes(reader.png, reader.info)) != row_bytes)
    throw DataError(fmt::format("{}: does not decode as PNG: {} channels", name, channels));
  rows.begin(height, width, channels);
  std::vector<uint8_t> pixels(static_cast<size_t>((interlaced ? height : 1) * row_bytes));
  if (interlaced) {
    auto all = rows_of(pixels.data(), height, row_bytes);
    require(attempt(reader.png, read_image, all.data()));
    for (const auto* row : all) rows.take(row);
  } else {
    for (int64_t y = 0; y < height; ++y) {
      require(attempt(reader.png, read_row, pixels.data()));
      rows.take(pixels.data());
    }
  }
  require(attempt(reader.png, read_end));
}

std::string encode_png(const torch::Tensor& image) {
  if (image.dim() != 3 || image.scalar_type() != torch::kUInt8 || (image.size(0) != 1 && image.size(0) != 3) ||
      image.numel() == 0)
    throw ArgumentError(fmt::format("encode_png: image should be uint8 [1 or 3, H, W], found {} {}",
                                    c10::toString(image.scalar_type()), fmt::join(image.sizes(), "x")));
  const auto interleaved = image.detach().cpu().permute({1, 2, 0}).contiguous();
  const Header header{image.size(1), image.size(2), image.size(0) == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB};
  auto rows = rows_of(interleaved.data_ptr<uint8_t>(), header.height, header.width * image.size(0));
  std::string png;
  Transfer transfer;
  transfer.written = &png;
  const Writer writer(transfer);
  if (!attempt<png_infop, const Header*, png_bytepp>(writer.png, write_image, writer.info, &header, rows.data())) {
    if (transfer.out_of_memory) throw std::bad_alloc();
    throw ArgumentError(fmt::format("encode_png: an image of {}x{} pixels cannot be written: {}", header.width,
                                    header.height, transfer.reason));
  }
  return png;
}

}  // namespace priornet
