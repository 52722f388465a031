#include <priornet/data/transforms/pixels.h>

#include <priornet/core/checks.h>
#include <priornet/data/transforms/image_checks.h>

namespace priornet {

torch::Tensor to_unit_range(const torch::Tensor& images) {
  check_images("to_unit_range", images);
  return images.to(torch::kFloat32).div_(127.5).sub_(1);
}

torch::Tensor to_grey(const torch::Tensor& images) {
  check_images("to_grey", images);
  const int64_t channels = images.size(-3);
  check_range("to_grey", "the number of channels", channels == 1 || channels == 3, "1 or 3",
              static_cast<double>(channels));
  if (channels == 1) return images;
  const auto channel = [&](int64_t c) { return images.narrow(-3, c, 1).to(torch::kInt32); };
  const auto sum = channel(0).mul_(19595).add_(channel(1), 38470).add_(channel(2), 7471).add_(0x8000);
  return sum.bitwise_right_shift_(16).to(torch::kUInt8);
}

torch::Tensor to_rgb(const torch::Tensor& images) {
  check_images("to_rgb", images);
  const int64_t channels = images.size(-3);
  check_range("to_rgb", "the number of channels", channels == 1 || channels == 3, "1 or 3",
              static_cast<double>(channels));
  return channels == 3 ? images : images.repeat_interleave(3, -3);
}

torch::Tensor invert(const torch::Tensor& images) {
  check_images("invert", images);
  return images.bitwise_not();
}

torch::Tensor pad(const torch::Tensor& images, const Padding& padding) {
  check_images("pad", images);
  for (const auto& [name, count] :
       {std::pair{"left", padding.left}, {"right", padding.right}, {"top", padding.top}, {"bottom", padding.bottom}})
    check_range("pad", name, count >= 0, "at least 0", static_cast<double>(count));
  return torch::constant_pad_nd(images, {padding.left, padding.right, padding.top, padding.bottom}, padding.value);
}

}  // namespace priornet
