#include <gtest/gtest.h>
#include <priornet/learning/images.h>
#include <priornet/uncertainty/errors.h>
#include <testing/fixtures.h>
#include <testing/temporary_folder.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include "learning/data/npz.h"

#include <map>

// The images and their pixels as Pillow has them were made by fixtures/images/make.py.

namespace priornet {
namespace {

const std::map<std::string, int64_t> kChannelsOf{{"cmyk.jpg", 3},
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

TEST(DecodeImage, NoticesEveryTruncation) {
  for (const auto& [name, channels] : kChannelsOf) {
    const auto whole = image_bytes(name);
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_THROW(decode_image(whole.substr(0, size), name, Channels::kRgb), DataError)
          << name << " cut after " << size << " of " << whole.size() << " bytes";
  }
}

TEST(DecodeImage, SaysWhatIsWrong) {
  EXPECT_THROWS(DataError, decode_image("", "a.png", Channels::kRgb),
                "a.png: should be a PNG, JPEG or WebP image, found no bytes");
  EXPECT_THROWS(DataError, decode_image("GIF89a", "a.png", Channels::kRgb),
                "a.png: should be a PNG, JPEG or WebP image, begins with the bytes 47 49 46 38 39 61");
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
                "a.jpg: an image of 20000x20 pixels, more than the 16384 a side that are taken");
  EXPECT_THROWS(DataError, decode_image(jpeg_claiming(16'000, 16'000), "a.jpg", Channels::kRgb),
                "a.jpg: an image of 16000x16000 pixels, more than its 424 bytes can hold");
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
