#include <priornet/data/transforms/image_checks.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>

namespace priornet {

void check_images(std::string_view function, const torch::Tensor& images) {
  const auto fail = [&](const std::string& found) {
    throw ArgumentError(
        fmt::format("{}: images should be uint8 [N, C, H, W] or [C, H, W] with pixels, found {}", function, found));
  };
  if (!images.defined()) fail("none");
  if (images.scalar_type() != torch::kUInt8) fail(c10::toString(images.scalar_type()));
  const bool has_pixels =
      (images.dim() == 3 || images.dim() == 4) && images.size(-1) > 0 && images.size(-2) > 0 && images.size(-3) > 0;
  if (!has_pixels) fail(fmt::format("shape [{}]", fmt::join(images.sizes().begin(), images.sizes().end(), ", ")));
}

}  // namespace priornet
