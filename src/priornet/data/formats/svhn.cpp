#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/core/parallel.h>
#include <priornet/data/files/file_tree.h>
#include <priornet/data/formats/mat5.h>
#include <priornet/data/formats/square_transpose.h>
#include <priornet/data/formats/svhn.h>

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
  // MATLAB runs down the columns.
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
      throw DataError(fmt::format("{}: variable y: label {} of row {} (from 0) should be 1 to 10", name, number, row));
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

}  // namespace priornet
