#include <priornet/learning/augmentation.h>

#include <numbers>

#include "plain_augmentation.h"
#include "timing.h"

namespace priornet::bench {
namespace {

torch::Tensor to_bytes(const torch::Tensor& images) { return images.round().clamp_(0, 255).to(torch::kUInt8); }

torch::Tensor plain_resize(const torch::Tensor& images, int64_t side) {
  return to_bytes(at::_upsample_bilinear2d_aa(images.to(torch::kFloat32), {side, side}, false));
}

}  // namespace

torch::Tensor plain_augment(const torch::Tensor& images, const AugmentationOptions& options) {
  const int64_t count = images.size(0);
  const auto numbers = images.options().dtype(torch::kFloat32);
  const auto angle = (torch::rand({count}, numbers) * 2 - 1) * (options.rotation_degrees * std::numbers::pi / 180);
  const auto flip = torch::randint(2, {count}, numbers) * 2 - 1;
  const auto pixel = 2.0 / static_cast<double>(images.size(3) - 1);
  const auto shift = torch::randint(-options.shift, options.shift + 1, {count, 2}, numbers) * pixel;
  const auto map = torch::stack({angle.cos() * flip, -angle.sin(), shift.select(1, 0), angle.sin() * flip, angle.cos(),
                                 shift.select(1, 1)},
                                1)
                       .view({count, 2, 3});
  constexpr int64_t kNearest = 1;
  constexpr int64_t kReflect = 2;
  const auto grid = at::affine_grid_generator(map, images.sizes(), /*align_corners=*/true);
  return to_bytes(at::grid_sampler_2d(images.to(torch::kFloat32), grid, kNearest, kReflect, /*align_corners=*/true));
}

void compare_images(const Options& options, const Report& report) {
  constexpr int64_t kCount = 1024;
  const torch::NoGradGuard no_grad;
  const auto pictures = [&](int64_t side) {
    return torch::randint(256, {kCount, 3, side, side}, torch::kUInt8).to(options.device);
  };
  if (options.device.is_cpu()) {
    const auto large = pictures(64);
    with_thread_counts(options.device, [&](int threads) {
      report(compare(
          {"resize 64 -> 32 RGB", "uint8", 0, threads, 0, 0}, kCount, options,
          [&] {
            resize(large, ResizeOptions{32, 32});
          },
          [&] { plain_resize(large, 32); }));
    });
  }
  const auto small = pictures(32);
  uint64_t step = 0;
  const auto compare_augmentation = [&](const char* name, const AugmentationOptions& augmentation) {
    with_thread_counts(options.device, [&](int threads) {
      report(compare(
          {name, "uint8", 0, threads, 0, 0}, kCount, options,
          [&] { augment(small, augmentation, AugmentationDraw{.step = ++step}); },
          [&] { plain_augment(small, augmentation); }));
    });
  };
  compare_augmentation("flip, shift 32 RGB", {.flip = true, .shift = 4});
  compare_augmentation("... and rotate", {.flip = true, .shift = 4, .rotation_degrees = 15, .reflect_outside = true});
}

}  // namespace priornet::bench
