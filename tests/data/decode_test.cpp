#include <gtest/gtest.h>
#include <jpeglib.h>
#include <priornet/learning/images.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <testing/fixtures.h>
#include <testing/temporary_folder.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "learning/data/npy.h"

// The images and their pixels as in Pillow were made by fixtures/images/make.py.

namespace priornet {
namespace {

const std::map<std::string, int64_t> kChannelsOf{{"bits.bmp", 1},
                                                 {"cmyk.jpg", 3},
                                                 {"grey.bmp", 1},
                                                 {"grey.gif", 1},
                                                 {"grey.tif", 1},
                                                 {"palette.gif", 3},
                                                 {"palette.tif", 3},
                                                 {"rgb.bmp", 3},
                                                 {"rgb565_from_top.bmp", 3},
                                                 {"rgb_deflated.tiff", 3},
                                                 {"rgb_alpha.tif", 3},
                                                 {"runs8.bmp", 3},
                                                 {"grey.jpg", 1},
                                                 {"grey1.png", 1},
                                                 {"grey16.png", 1},
                                                 {"grey2.png", 1},
                                                 {"grey4_interlaced.png", 1},
                                                 {"grey_alpha.png", 1},
                                                 {"grey8_transparent.png", 1},
                                                 {"lossless_alpha.webp", 3},
                                                 {"lossy.webp", 3},
                                                 {"palette4.png", 3},
                                                 {"rgb16.png", 3},
                                                 {"rgb8_interlaced.png", 3},
                                                 {"rgb_420.jpg", 3},
                                                 {"rgb_444_progressive.jpg", 3},
                                                 {"rgb_alpha.png", 3}};

std::string image_bytes(const std::string& name) { return bytes_of(fixture("images/" + name)); }

torch::Tensor decoded(const std::string& name, Channels channels = Channels::kAsStored) {
  return decode_image(image_bytes(name), name, channels);
}

TEST(DecodeImage, GivesThePixelsOfPillow) {
  for (const auto& [name, pixels] : read_npz(fixture("images/decoded.npz"))) {
    SCOPED_TRACE(name);
    const auto space = name.find(' ');
    const auto file = name.substr(0, space);
    const bool grey = name.substr(space + 1) == "grey";
    EXPECT_TRUE(near(decoded(file, grey ? Channels::kGrey : Channels::kRgb), pixels, 0));
  }
}

TEST(DecodeImage, KeepsGreyFilesGreyUnlessAskedOtherwise) {
  for (const auto& [name, channels] : kChannelsOf) {
    SCOPED_TRACE(name);
    EXPECT_EQ(decoded(name).sizes(), (torch::IntArrayRef{channels, 11, 19}));
    EXPECT_TRUE(torch::equal(decoded(name), decoded(name, channels == 1 ? Channels::kGrey : Channels::kRgb)));
  }
}

TEST(DecodeImage, TurnsPicturesUpright) {
  for (const auto* name : {"turned6.jpg", "turned6.png", "turned8.webp", "turned5.png", "turned7.png"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(decoded(name).sizes(), (torch::IntArrayRef{3, 19, 11}));
    const auto facts = image_facts(image_bytes(name), name);
    EXPECT_EQ(facts.height, 19);
    EXPECT_EQ(facts.width, 11);
    const ImageShape shape{3, 19, 11};
    EXPECT_TRUE(torch::equal(decode_fitted(image_bytes(name), name, shape), decoded(name)));
    const auto smaller = decode_fitted(image_bytes(name), name, ImageShape{3, 7, 5}).to(torch::kInt32);
    const auto turned_first = fit_to({"", decoded(name).unsqueeze(0), {}, {}, {}}, ImageShape{3, 7, 5}).inputs[0];
    EXPECT_LE((smaller - turned_first).abs().max().item<int>(), 1);
  }
}

// The file is lossy and four times as large as rgb.bmp, so the mean colour of each block of 4 x 4 pixels is compared.
TEST(DecodeImage, ReadsHeic) {
  const auto image = decoded("rgb.heic");
  ASSERT_EQ(image.sizes(), (torch::IntArrayRef{3, 44, 76}));
  const auto blocks = image.to(torch::kFloat32).reshape({3, 11, 4, 19, 4}).mean(torch::IntArrayRef{2, 4});
  EXPECT_LT((blocks - decoded("rgb.bmp")).abs().mean().item<double>(), 4.0);
}

// Both say that they have 76x44 pixels. The decoder would take 1.1 GB for the tiles of the first.
TEST(DecodeImage, RefusesHeicThatIsLargerThanItSays) {
  const auto grid = image_bytes("larger_grid.heic");
  EXPECT_LT(image_facts(grid, "grid").decoder_bytes, 1'000'000);
  EXPECT_THROWS(
      DataError, decode_image(grid, "grid", Channels::kRgb),
      "grid: does not decode as HEIC: Memory allocation error: Security limit exceeded: Image size 14441x27759 "
      "exceeds the maximum image size 140x140\n");
  EXPECT_THROWS(DataError, decode_image(image_bytes("larger_picture.avif"), "picture", Channels::kRgb),
                "picture: does not decode as HEIC: it says that it is 76x44, but holds 512x512 pixels");
  EXPECT_FALSE(decodes_as_stated(grid));
  EXPECT_TRUE(decodes_as_stated(image_bytes("rgb.bmp")));
}

// libheif would decode it until the stack is full.
TEST(DecodeImage, RefusesHeicThatIsMadeOfItself) {
  EXPECT_THROWS(DataError, decode_image(image_bytes("own_part.heic"), "picture", Channels::kRgb),
                "picture: does not decode as HEIC: a picture is made of itself, or of more than 4096");
}

TEST(DecodeImage, RefusesAvifWithoutAPicture) {
  EXPECT_THROWS(DataError, decode_image(image_bytes("no_picture.avif"), "picture", Channels::kRgb),
                "picture: does not decode as HEIC: Decoder plugin generated an error: Unspecified");
}

int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));
  return 0;
}

// Both have 16x16 pixels in one tile: of 1024x1024, which is harmless, and of 16384x16384, which would take 805 MB.
TEST(DecodeImage, RefusesTiffWithTilesMuchLargerThanItsPixels) {
  auto file = image_bytes("large_tile.tif");
  EXPECT_EQ(decode_image(file, "tile", Channels::kRgb).sizes(), (torch::IntArrayRef{3, 16, 16}));
  EXPECT_EQ(image_facts(file, "tile").decoder_bytes, 3 * 1024 * 1024 + 7 * 16 * 16);
  for (const uint16_t tag : {uint16_t{322}, uint16_t{323}}) {  // TileWidth, TileLength: 16-bit values, little-endian
    const std::string entry{static_cast<char>(tag & 0xFF), static_cast<char>(tag >> 8), 3, 0, 1, 0, 0, 0, 0, 4};
    const auto at = file.find(entry);
    ASSERT_NE(at, std::string::npos);
    file[at + 9] = 64;
  }
  EXPECT_THROWS(DataError, decode_image(file, "tile", Channels::kRgb),
                "tile: does not decode as TIFF: its strips or tiles are larger than its pixels need");
  EXPECT_THROW(image_facts(file, "tile"), DataError);
}

// 1024 tiles of 1 MB, all in the same bytes: to decode them takes minutes.
TEST(DecodeImage, RefusesTiffWithManyMoreTilesThanPixels) {
  auto file = image_bytes("large_tile.tif");
  const auto number = [&](uint16_t tag) {
    const std::string entry{static_cast<char>(tag & 0xFF), static_cast<char>(tag >> 8)};
    return file.find(entry + std::string("\3\0\1\0\0\0", 6)) + 8;
  };
  const auto width = number(256);
  ASSERT_LT(width, file.size());
  file[width] = 0;
  file[width + 1] = 64;  // 16384 pixels in 16 tiles of 1024 x 1024 x 3 bytes
  EXPECT_THROWS(DataError, image_facts(file, "tile"),
                "tile: does not decode as TIFF: its strips or tiles are larger than its pixels need");
}

// The file has four compressed texts of 7.9 MB.
TEST(DecodeImage, DoesNotUnpackTheTextsOfAPng) {
  const auto file = image_bytes("long_texts.png");
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak begins here
  const auto before = peak_memory();
  EXPECT_TRUE(decode_image(file, "texts", Channels::kRgb).equal(decoded("rgb.bmp")));
  EXPECT_LT(peak_memory() - before, 4'000'000);
}

// Bytes at the end that a picture can do without: those that fill up the last row of a BMP; the palette of a TIFF,
// which libtiff then shows in grey.
const std::map<std::string, size_t> kSpare{
    {"bits.bmp", 1}, {"grey.bmp", 1}, {"palette.tif", 1540}, {"rgb.bmp", 3}, {"rgb565_from_top.bmp", 2}};

TEST(DecodeImage, NoticesEveryTruncation) {
  for (const auto& [name, channels] : kChannelsOf) {
    const auto whole = image_bytes(name);
    const auto spare = kSpare.find(name);
    const auto needed = whole.size() - (spare == kSpare.end() ? 0 : spare->second);
    for (size_t size = 0; size < needed; ++size)
      EXPECT_THROW(decode_image(whole.substr(0, size), name, Channels::kRgb), DataError)
          << name << " cut after " << size << " of " << whole.size() << " bytes";
  }
}

TEST(DecodeImage, SaysWhatIsWrong) {
  EXPECT_THROWS(DataError, decode_image("", "a.png", Channels::kRgb),
                "a.png: should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, found no bytes");
  EXPECT_THROWS(
      DataError, decode_image("GIF90a", "a.png", Channels::kRgb),
      "a.png: should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, begins with the bytes 47 49 46 39 30 61");
  EXPECT_THROWS(DataError, decode_image(image_bytes("grey1.png").substr(0, 60), "a.png", Channels::kRgb),
                "a.png: does not decode as PNG: ends too soon (byte 41 of 60)");
  auto flipped = image_bytes("rgb_alpha.png");
  flipped[flipped.size() - 13] ^= 1;  // the last byte of the checksum of its data
  EXPECT_THROWS(DataError, decode_image(flipped, "a.png", Channels::kRgb),
                "a.png: does not decode as PNG: IDAT: CRC error (byte 872 of 884)");
  EXPECT_THROWS(DataError, decode_image(image_bytes("grey.jpg").substr(0, 400), "a.jpg", Channels::kRgb),
                "a.jpg: does not decode as JPEG: Premature end of JPEG file");
  EXPECT_THROWS(DataError, decode_image(image_bytes("lossy.webp").substr(0, 100), "a.webp", Channels::kRgb),
                "a.webp: does not decode as WebP: damaged or truncated");
}

// The size stands in the frame header, 5 bytes after its marker.
std::string jpeg_claiming(int height, int width) {
  auto bytes = image_bytes("grey.jpg");
  const auto frame = bytes.find("\xFF\xC0");
  for (const auto& [at, value] : {std::pair(frame + 5, height), std::pair(frame + 7, width)}) {
    bytes[at] = static_cast<char>(value >> 8);
    bytes[at + 1] = static_cast<char>(value);
  }
  return bytes;
}

TEST(DecodeImage, RefusesSizesBeforeMemoryIsTaken) {
  EXPECT_THROWS(DataError, decode_image(jpeg_claiming(20, 20'000), "a.jpg", Channels::kRgb),
                "a.jpg: an image of 20000x20 pixels, more than the 16384 allowed per side");
  EXPECT_THROWS(DataError, decode_image(jpeg_claiming(16'000, 16'000), "a.jpg", Channels::kRgb),
                "a.jpg: an image of 16000x16000 pixels, more than its 424 bytes can hold");
}

std::string encode_jpeg_for_test(const torch::Tensor& grey) {
  jpeg_error_mgr errors{};
  jpeg_compress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_height = static_cast<JDIMENSION>(grey.size(0));
  jpeg.image_width = static_cast<JDIMENSION>(grey.size(1));
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 95, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = grey.data_ptr<uint8_t>() + jpeg.next_scanline * grey.size(1);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string result(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return result;
}

TEST(DecodeImageBands, GivesTheSamePixelsAFewRowsAtATime) {
  for (const auto& [name, channels] : kChannelsOf) {
    SCOPED_TRACE(name);
    std::vector<torch::Tensor> bands;
    BandOptions options;
    options.rows = 4;
    decode_image_bands(image_bytes(name), name, options, [&](const torch::Tensor& band) {
      EXPECT_LE(band.size(1), 4);
      bands.push_back(band.clone());
    });
    EXPECT_EQ(bands.size(), 3U) << "of 11 rows";
    EXPECT_TRUE(torch::equal(torch::cat(bands, 1), decoded(name)));
  }
}

TEST(DecodeFitted, IsWhatDecodingAndFittingGives) {
  for (const auto& [name, channels] : kChannelsOf)
    for (const auto& shape : {ImageShape{1, 5, 6}, ImageShape{3, 5, 6}, ImageShape{3, 11, 19}, ImageShape{1, 30, 7}}) {
      SCOPED_TRACE(name + " to " + std::to_string(shape.height));
      const auto whole = decoded(name).unsqueeze(0);
      EXPECT_TRUE(torch::equal(decode_fitted(image_bytes(name), name, shape),
                               fit_to({"", whole, {}, {}, {}}, shape).inputs[0]));
    }
}

// The image is as smooth as a photograph, so a reader that halves it three times differs only by rounding.
TEST(DecodeFitted, ShrinksWhileItReads) {
  const auto y = torch::arange(512).unsqueeze(1), x = torch::arange(640).unsqueeze(0);
  const auto smooth = (127 + 60 * torch::sin(y * 0.05) + 60 * torch::cos(x * 0.03 + y * 0.02)).to(torch::kUInt8);
  const auto file = encode_jpeg_for_test(smooth);
  BandOptions options;
  options.height = 20;
  options.width = 20;
  int64_t rows = 0;
  decode_image_bands(file, "a.jpg", options, [&](const torch::Tensor& band) { rows += band.size(1); });
  EXPECT_EQ(rows, 512 / 8) << "an eighth is still three times 20";
  const auto whole = decode_image(file, "a.jpg", Channels::kAsStored).unsqueeze(0);
  const ImageShape shape{1, 20, 20};
  const auto difference =
      decode_fitted(file, "a.jpg", shape).to(torch::kInt32) - fit_to({"", whole, {}, {}, {}}, shape).inputs[0];
  EXPECT_LE(difference.abs().max().item<int>(), 2);
  EXPECT_LT(difference.to(torch::kFloat64).abs().mean().item<double>(), 0.5);
}

TEST(ImageFacts, AreReadFromTheHeader) {
  for (const auto& [name, channels] : kChannelsOf) {
    SCOPED_TRACE(name);
    const auto facts = image_facts(image_bytes(name), name);
    EXPECT_EQ(facts.height, 11);
    EXPECT_EQ(facts.width, 19);
    const bool kept = name.find("interlaced") != std::string::npos || name.find("progressive") != std::string::npos ||
                      !(name.ends_with(".png") || name.ends_with(".jpg"));
    EXPECT_EQ(facts.decoder_bytes > 0, kept) << facts.decoder_bytes;
  }
  EXPECT_EQ(image_facts(image_bytes("rgb_444_progressive.jpg"), "a").decoder_bytes, 2 * 3 * 11 * 19);
  EXPECT_THROWS(DataError, image_facts(jpeg_claiming(20, 20'000), "a.jpg"),
                "a.jpg: an image of 20000x20 pixels, more than the 16384 allowed per side");
  EXPECT_THROWS(DataError, image_facts(image_bytes("grey1.png").substr(0, 20), "a.png"),
                "a.png: does not decode as PNG: it has no header");
}

TEST(EncodePng, LosesNothing) {
  for (const int64_t channels : {1, 3}) {
    const auto image = torch::randint(0, 256, {channels, 13, 7}, torch::kUInt8);
    EXPECT_TRUE(torch::equal(decode_image(encode_png(image), "memory", Channels::kAsStored), image));
    const auto turned = image.transpose(1, 2);
    EXPECT_TRUE(torch::equal(decode_image(encode_png(turned), "memory", Channels::kAsStored), turned));
  }
}

TEST(EncodePng, RefusesWhatIsNoImage) {
  EXPECT_THROWS(ArgumentError, encode_png(torch::zeros({2, 3, 4}, torch::kUInt8)),
                "encode_png: image should be uint8 [1 or 3, H, W], found Byte 2x3x4");
  EXPECT_THROW(encode_png(torch::zeros({3, 3, 4})), ArgumentError);
  EXPECT_THROW(encode_png(torch::zeros({3, 0, 4}, torch::kUInt8)), ArgumentError);
}

}  // namespace
}  // namespace priornet
