#include "learning/sets/path_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include "learning/data/file_tree.h"
#include "learning/data/matlab_file.h"
#include "learning/sets/families.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

constexpr int64_t kSvhnSide = 32;
constexpr int64_t kSquare = kSvhnSide * kSvhnSide;

torch::Tensor to_images(const std::string& name, MatMatrix& matrix) {
  const auto& shape = matrix.shape();
  if (shape.size() != 4 || shape[0] != kSvhnSide || shape[1] != kSvhnSide || shape[2] != 3)
    throw DataError(fmt::format("{}: variable X is [{}]: wanted images, [32, 32, 3, N]", name, fmt::join(shape, ", ")));
  auto values = matrix.read_values();
  if (values.scalar_type() != torch::kUInt8)
    throw DataError(
        fmt::format("{}: variable X is stored as {}: wanted uint8", name, c10::toString(values.scalar_type())));
  auto* pixels = values.data_ptr<uint8_t>();
  // MATLAB stores columns first.
  parallel_rows(shape[3] * 3, kSquare, [&](int64_t begin, int64_t end) {
    for (int64_t square = begin; square < end; ++square) transpose_square<kSvhnSide>(pixels + square * kSquare);
  });
  return values.view({shape[3], 3, kSvhnSide, kSvhnSide});
}

torch::Tensor to_labels(const std::string& name, MatMatrix& matrix) {
  const auto numbers = matrix.read_values().to(torch::kFloat64);
  auto labels = torch::empty(numbers.sizes(), torch::kInt64);
  for (int64_t row = 0; row < numbers.size(0); ++row) {
    const double number = numbers.data_ptr<double>()[row];
    if (!(number >= 1 && number <= 10) || number != static_cast<int>(number))
      throw DataError(
          fmt::format("{}: variable y: label {} of row {} (counted from 0) should be 1 to 10", name, number, row));
    labels.data_ptr<int64_t>()[row] = static_cast<int64_t>(number) % 10;
  }
  return labels;
}

}  // namespace

Dataset read_svhn(const std::filesystem::path& mat_file) { return read_svhn(*open_file(mat_file)); }

Dataset read_svhn(ByteStream& bytes) {
  Dataset set{bytes.name(), {}, {}, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, {}};
  visit_mat5(bytes, [&](MatMatrix& matrix) {
    if (matrix.name() != "X" && matrix.name() != "y") return;
    auto& values = matrix.name() == "X" ? set.inputs : set.labels;
    if (values.defined()) throw DataError(fmt::format("{}: holds variable {} twice", bytes.name(), matrix.name()));
    values = matrix.name() == "X" ? to_images(bytes.name(), matrix) : to_labels(bytes.name(), matrix);
  });
  for (const auto& [values, name] : {std::pair{set.inputs, 'X'}, {set.labels, 'y'}})
    if (!values.defined()) throw DataError(fmt::format("{}: holds no variable {} of numbers", bytes.name(), name));
  if (set.labels.size(0) != set.size())
    throw DataError(
        fmt::format("{}: X holds {} images, y holds {} labels", bytes.name(), set.size(), set.labels.size(0)));
  return set;
}

namespace {

struct FileFacts {
  std::string part;
  std::string file;
  int64_t count;
  int64_t size;
  std::string sha256;
};

}  // namespace

CatalogueEntry svhn_set() {
  CatalogueEntry entry;
  entry.name = "svhn";
  entry.title = "SVHN: house numbers cropped to a digit, 32x32 colour";
  entry.homepage = "http://ufldl.stanford.edu/housenumbers/";
  entry.terms = "For non-commercial use only";
  entry.show_terms = true;
  const std::vector<FileFacts> files = {{"train", "train_32x32.mat", 73'257, 182'040'794,
                                         "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"},
                                        {"test", "test_32x32.mat", 26'032, 64'275'384,
                                         "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"},
                                        {"extra", "extra_32x32.mat", 531'131, 1'329'278'602,
                                         "a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3"}};
  std::vector<std::string> names;
  for (const auto& facts : files) {
    names.push_back(facts.file);
    entry.files.push_back({"svhn/" + facts.file, facts.size, facts.sha256, "", {entry.homepage + facts.file}});
    entry.parts.push_back(
        {facts.part,
         facts.count,
         {facts.file},
         digit_names(),
         std::nullopt,
         [file = facts.file](const auto& location, const auto&) { return read_svhn(location / file); }});
    entry.splits.push_back(whole_part(entry.parts.back(), facts.file));
  }
  entry.locations = {{"svhn", names}, {"SVHN", names}, {".", names}};
  return entry;
}

}  // namespace priornet
