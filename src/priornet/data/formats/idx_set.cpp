#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/formats/idx.h>
#include <priornet/data/formats/named_files.h>

namespace priornet {
namespace {

void check_shape(const std::string& name, const torch::Tensor& values, bool fits, const char* wanted) {
  if (!fits)
    throw DataError(fmt::format("{}: has shape [{}]: wanted {}", name,
                                fmt::join(values.sizes().begin(), values.sizes().end(), ", "), wanted));
}

torch::Tensor to_images(const std::string& name, const torch::Tensor& values, bool transposed) {
  check_shape(name, values, values.dim() == 3 && values.size(1) > 0 && values.size(2) > 0, "images, [N, H, W]");
  const auto images = values.unsqueeze(1);
  return transposed ? images.transpose(2, 3).contiguous() : images;
}

torch::Tensor to_labels(const std::string& name, const torch::Tensor& values, const IdxSet& set) {
  check_shape(name, values, values.dim() == 1, "labels, [N]");
  const auto classes = static_cast<int64_t>(set.class_names.size());
  auto labels = torch::empty(values.sizes(), torch::kInt64);
  const auto* from = values.data_ptr<uint8_t>();
  auto* to = labels.data_ptr<int64_t>();
  for (int64_t row = 0; row < values.size(0); ++row) {
    to[row] = from[row] - set.first_label;
    constexpr int64_t kHeader = 8;
    if (to[row] < 0 || to[row] >= classes)
      throw DataError(fmt::format("{}: byte {}: label {} of row {} (from 0) should be in [{}, {})", name, kHeader + row,
                                  from[row], row, set.first_label, set.first_label + classes));
  }
  return labels;
}

}  // namespace

Dataset read_idx_set(const std::filesystem::path& root, const IdxSet& set) {
  Dataset result{root.string(), {}, {}, set.class_names, {}};
  visit_named_files(root, {set.images, set.labels}, [&](size_t which, ByteStream& bytes) {
    const auto values = read_idx(bytes);
    if (which == 0)
      result.inputs = to_images(bytes.name(), values, set.transposed);
    else
      result.labels = to_labels(bytes.name(), values, set);
  });
  if (result.labels.size(0) != result.size())
    throw DataError(fmt::format("{}: {} holds {} images, {} holds {} labels", root.string(), set.images, result.size(),
                                set.labels, result.labels.size(0)));
  return result;
}

}  // namespace priornet
