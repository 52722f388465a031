#include <priornet/uncertainty/errors.h>
#include <testing/mat5_bytes.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/data/matlab_file.h"
#include "learning/sets/path_set.h"

namespace priornet {
namespace {

// Random pixels in MATLAB's order, [N, 3, W, H] in ours.
torch::Tensor matlab_pixels(int64_t images) {
  torch::manual_seed(1);
  return torch::randint(256, {images, 3, 32, 32}, torch::kUInt8);
}

std::string bytes_of_tensor(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

std::string images(const torch::Tensor& pixels) {
  return mat_matrix("X", {32, 32, 3, static_cast<int32_t>(pixels.size(0))}, 9, 2, bytes_of_tensor(pixels));
}

std::string labels(const std::string& values) {
  return mat_matrix("y", {static_cast<int32_t>(values.size()), 1}, 9, 2, values);
}

Dataset read(const std::string& elements) {
  const auto bytes = mat_header() + elements;
  MemoryStream stream("a.mat", bytes);
  return read_svhn(stream);
}

const std::string kTwoImages = images(matlab_pixels(2));

TEST(ReadSvhn, TurnsColumnsIntoRowsAndTenIntoZero) {
  const auto pixels = matlab_pixels(5);
  const auto set = read(images(pixels) + labels("\12\1\2\3\11"));
  EXPECT_TRUE(set.inputs.equal(pixels.transpose(2, 3)));
  EXPECT_TRUE(set.labels.equal(torch::tensor({0, 1, 2, 3, 9}, torch::kInt64)));
  EXPECT_EQ(set.class_names[0], "0");
  EXPECT_EQ(set.num_classes(), 10);
  EXPECT_NO_THROW(check_dataset(set));
}

TEST(ReadSvhn, ReadsCompressedVariablesInAnyOrderAmongOthers) {
  const TemporaryFolder folder;
  const auto pixels = matlab_pixels(3);
  const auto numbers = mat_matrix("y", {3, 1}, 6, 9, as_bytes(std::vector<double>{10, 5, 1}));
  const auto text = mat_matrix("note", {1, 5}, 4, 4, std::string(10, 'x'));
  const auto other = mat_matrix("z", {1, 1}, 6, 9, as_bytes(std::vector<double>{1}));
  const auto path = folder.file(
      "a.mat", mat_header() + mat_compressed(text) + mat_compressed(numbers) + other + mat_compressed(images(pixels)));
  const auto set = read_svhn(path);
  EXPECT_TRUE(set.inputs.equal(pixels.transpose(2, 3)));
  EXPECT_TRUE(set.labels.equal(torch::tensor({0, 5, 1}, torch::kInt64)));
}

TEST(ReadSvhn, NamesTheRowOfAWrongLabel) {
  EXPECT_THROWS(DataError, read(kTwoImages + labels(std::string("\1\0", 2))),
                "a.mat: variable y: label 0 of row 1 (counted from 0) should be 1 to 10");
  EXPECT_THROWS(DataError, read(kTwoImages + labels("\13\1")),
                "a.mat: variable y: label 11 of row 0 (counted from 0) should be 1 to 10");
  EXPECT_THROWS(DataError, read(mat_matrix("y", {1, 1}, 6, 9, as_bytes(std::vector<double>{2.5}))),
                "a.mat: variable y: label 2.5 of row 0 (counted from 0) should be 1 to 10");
  EXPECT_THROWS(DataError, read(mat_matrix("y", {1, 1}, 6, 9, as_bytes(std::vector<double>{NAN}))),
                "a.mat: variable y: label nan of row 0 (counted from 0) should be 1 to 10");
}

TEST(ReadSvhn, SaysWhichVariableIsMissingOrWrong) {
  EXPECT_THROWS(DataError, read(labels("\1")), "a.mat: holds no variable X of numbers");
  EXPECT_THROWS(DataError, read(kTwoImages), "a.mat: holds no variable y of numbers");
  EXPECT_THROWS(DataError, read(kTwoImages + labels("\1")), "a.mat: X holds 2 images, y holds 1 labels");
  EXPECT_THROWS(DataError, read(kTwoImages + kTwoImages), "a.mat: holds variable X twice");
  EXPECT_THROWS(DataError, read(mat_matrix("X", {28, 28, 3, 1}, 9, 2, std::string(2352, 'x'))),
                "a.mat: variable X is [28, 28, 3, 1]: wanted images, [32, 32, 3, N]");
  EXPECT_THROWS(DataError, read(mat_matrix("X", {32, 32, 3, 1}, 8, 1, std::string(3072, 'x'))),
                "a.mat: variable X is stored as Char: wanted uint8");
}

TEST(VisitMat5, RefusesOtherFiles) {
  const auto read_bytes = [](const std::string& bytes) {
    MemoryStream stream("a.mat", bytes);
    return read_svhn(stream);
  };
  EXPECT_THROWS(DataError, read_bytes("MATLAB"),
                "a.mat: ends at byte 6 (of the header of a MATLAB file, 128 bytes from byte 0)");
  EXPECT_THROWS(DataError, read_bytes(std::string(128, 'x')),
                "a.mat: is not a MATLAB 5 file: bytes 124 to 127 are 78 78 78 78, wanted 00 01 49 4d");
  EXPECT_THROWS(DataError, read_bytes(mat_header().substr(0, 124) + std::string("\x01\x00MI", 4)),
                "a.mat: byte 126: is big-endian: wanted a little-endian MATLAB file");
  EXPECT_THROWS(DataError, read(mat_element(9, "12345678")),
                "a.mat: the variable before byte 136: has type 9: wanted a matrix, 14");
}

TEST(VisitMat5, RefusesSizesThatDoNotFitTogether) {
  EXPECT_THROWS(DataError, read(mat_matrix("y", {3, 1}, 9, 2, "\1\2\3\4\5")),
                "a.mat: the variable before byte 136: variable y [3, 1] should have 3 values of 1 bytes from byte 48, "
                "found 5 bytes");
  EXPECT_THROWS(DataError, read(mat_matrix("y", {1 << 30, 1 << 30, 1 << 30}, 9, 2, "\1")),
                "a.mat: the variable before byte 136: variable y [1073741824, 1073741824, 1073741824] does not fit in "
                "memory");
  EXPECT_THROWS(DataError, read(mat_matrix("y", {-1, 1}, 9, 2, "\1")),
                "a.mat: the variable before byte 136: variable y has a size of -1");
}

TEST(VisitMat5, NoticesEveryTruncation) {
  for (const auto& elements : {kTwoImages, mat_compressed(kTwoImages)}) {
    const auto whole = elements + mat_compressed(labels("\1\2"));
    for (size_t length = 0; length < whole.size(); length += 1 + length / 100)
      EXPECT_THROW(read(whole.substr(0, length)), DataError) << length << " of " << whole.size() << " bytes";
    EXPECT_NO_THROW(read(whole));
  }
}

TEST(VisitMat5, NoticesDamagedCompressedData) {
  auto whole = mat_compressed(kTwoImages) + mat_compressed(labels("\1\2"));
  whole[3000] = static_cast<char>(whole[3000] ^ 1);
  EXPECT_THROW(read(whole), DataError);
}

}  // namespace
}  // namespace priornet
