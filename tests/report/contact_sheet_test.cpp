#include <gtest/gtest.h>
#include <priornet/uncertainty/errors.h>
#include <testing/pictures.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "tool/report/image_sheets.h"

namespace priornet {
namespace {

// Image n is n everywhere.
torch::Tensor plain_images(int64_t count, int64_t channels, int64_t height, int64_t width) {
  return torch::arange(count, torch::kUInt8).view({-1, 1, 1, 1}).expand({count, channels, height, width});
}

// The middle of the cell at a row and a column. Cells are 64 x 64 pixels, with gaps of 4.
int value_at(const torch::Tensor& sheet, int64_t row, int64_t column) {
  return sheet[0][4 + 68 * row + 32][4 + 68 * column + 32].item<int>();
}

TEST(ContactSheet, ShowsTheFirstImagesRowByRow) {
  ContactSheetOptions options;
  options.rows = 2;
  options.columns = 3;
  const auto sheet = contact_sheet(plain_images(9, 1, 32, 32), options);
  EXPECT_EQ(sheet.sizes(), (torch::IntArrayRef{3, 4 + 2 * 68, 4 + 3 * 68}));
  EXPECT_EQ(value_at(sheet, 0, 0), 0);
  EXPECT_EQ(value_at(sheet, 0, 2), 2);
  EXPECT_EQ(value_at(sheet, 1, 1), 4);
  EXPECT_EQ(sheet[2][2][2].item<int>(), 0x80);
}

TEST(ContactSheet, EndsWithItsLastImage) {
  const auto sheet = contact_sheet(plain_images(12, 3, 64, 64));
  EXPECT_EQ(sheet.sizes(), (torch::IntArrayRef{3, 4 + 2 * 68, 4 + 10 * 68}));
  EXPECT_EQ(value_at(sheet, 1, 1), 11);
  EXPECT_EQ(value_at(sheet, 1, 2), 0x80);
}

TEST(ContactSheet, GivesEachClassARow) {
  ContactSheetOptions options;
  options.columns = 2;
  options.labels = torch::tensor({1, 0, 1, 1, 3}, torch::kInt64);
  const auto sheet = contact_sheet(plain_images(5, 1, 64, 64), options);
  EXPECT_EQ(sheet.sizes(), (torch::IntArrayRef{3, 4 + 4 * 68, 4 + 2 * 68}));
  EXPECT_EQ(value_at(sheet, 0, 0), 1);
  EXPECT_EQ(value_at(sheet, 1, 0), 0);
  EXPECT_EQ(value_at(sheet, 1, 1), 2);
  EXPECT_EQ(value_at(sheet, 2, 0), 0x80);
  EXPECT_EQ(value_at(sheet, 3, 0), 4);
}

TEST(ContactSheet, RepeatsPixelsWithoutBlending) {
  const auto image = torch::randint(0, 256, {1, 3, 5, 7}, torch::kUInt8);
  ContactSheetOptions options;
  options.scale = 3;
  const auto cell = contact_sheet(image, options).slice(1, 4, -4).slice(2, 4, -4);
  for (int64_t offset = 0; offset < 3; ++offset)
    EXPECT_TRUE(torch::equal(cell.slice(1, offset, {}, 3).slice(2, offset, {}, 3), image[0]));
}

TEST(ContactSheet, ThinsLargeImages) {
  EXPECT_EQ(contact_sheet(plain_images(1, 3, 1000, 500)).sizes(), (torch::IntArrayRef{3, 8 + 167, 8 + 83}));
}

TEST(ContactSheet, IsWrittenAsPng) {
  const TemporaryFolder folder;
  write_contact_sheet(folder / "sheet.png", plain_images(2, 1, 64, 64));
  EXPECT_EQ(png_size(bytes_of(folder / "sheet.png")), std::pair(140, 72));
}

TEST(ContactSheet, RefusesWhatAreNoImages) {
  EXPECT_THROWS(ArgumentError, contact_sheet(torch::zeros({2, 2, 4, 4}, torch::kUInt8)),
                "contact_sheet: images should be uint8 [N, 1 or 3, H, W], found Byte 2x2x4x4");
  ContactSheetOptions options;
  options.columns = 0;
  EXPECT_THROWS(ArgumentError, contact_sheet(plain_images(2, 1, 4, 4), options),
                "contact_sheet: columns should be at least 1, found 0");
  options = {};
  options.labels = torch::zeros({3}, torch::kInt64);
  EXPECT_THROWS(ArgumentError, contact_sheet(plain_images(2, 1, 4, 4), options),
                "contact_sheet: labels should be int64 [2]");
}

}  // namespace
}  // namespace priornet
