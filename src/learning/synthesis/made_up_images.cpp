#include "learning/synthesis/made_up_images.h"

#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

std::vector<int64_t> sizes(const char* function, int64_t count, const ImageShape& shape) {
  check_range(function, "count", count >= 0, "at least 0", static_cast<double>(count));
  for (const auto& [name, size] :
       {std::pair{"channels", shape.channels}, {"height", shape.height}, {"width", shape.width}})
    check_range(function, name, size >= 1, "at least 1", static_cast<double>(size));
  return {count, shape.channels, shape.height, shape.width};
}

int64_t pixels(const ImageShape& shape) { return shape.channels * shape.height * shape.width; }

}  // namespace

torch::Tensor gaussian_noise_images(int64_t count, const ImageShape& shape, const DrawOptions& draw, double sigma) {
  const auto all = sizes("gaussian_noise_images", count, shape);
  check_range("gaussian_noise_images", "sigma", std::isfinite(sigma) && sigma >= 0, "at least 0", sigma);
  const auto unit = normal_draws(count, pixels(shape), draw).mul_(sigma).clamp_(-1, 1);
  return unit.add_(1).mul_(127.5).round_().to(torch::kUInt8).view(all);
}

torch::Tensor uniform_noise_images(int64_t count, const ImageShape& shape, const DrawOptions& draw) {
  const auto all = sizes("uniform_noise_images", count, shape);
  // A draw just below 1 may round up to 1.
  return uniform_draws(count, pixels(shape), draw).mul_(256).clamp_max_(255).to(torch::kUInt8).view(all);
}

namespace {

torch::Tensor uniform(const std::vector<int64_t>& shape, double low, double high, at::Generator& generator) {
  return torch::rand(shape, generator) * (high - low) + low;
}

// Normal at every pixel, smooth over about side / cells pixels: [count, 1, H, W].
torch::Tensor smooth_field(int64_t count, int64_t cells, const ImageShape& shape, at::Generator& generator) {
  const auto coarse = torch::randn({count, 1, cells, cells}, generator);
  return torch::upsample_bicubic2d(coarse, {shape.height, shape.width}, true);
}

// 1 inside an ellipse somewhere near the middle, 0 outside.
torch::Tensor window(int64_t count, const ImageShape& shape, at::Generator& generator) {
  const std::vector<int64_t> each = {count, 1, 1, 1};
  const auto rows = torch::linspace(-1, 1, shape.height).view({1, 1, -1, 1});
  const auto columns = torch::linspace(-1, 1, shape.width).view({1, 1, 1, -1});
  const auto y = (rows - uniform(each, -0.3, 0.3, generator)) / uniform(each, 0.4, 1.2, generator);
  const auto x = (columns - uniform(each, -0.3, 0.3, generator)) / uniform(each, 0.4, 1.2, generator);
  return (y.square() + x.square() < 1).to(torch::kFloat32);
}

// How much of a pixel the shape covers, [count, 1, H, W] in [0, 1]. `softness` is about a pixel of the field's slope.
torch::Tensor coverage(int64_t count, int64_t cells, const ImageShape& shape, at::Generator& generator) {
  const std::vector<int64_t> each = {count, 1, 1, 1};
  const auto field = smooth_field(count, cells, shape, generator);
  const auto softness = 1.5 * static_cast<double>(cells) / static_cast<double>(std::max(shape.height, shape.width));
  const auto stroke = (uniform(each, 0.03, 0.4, generator) - field.abs()) / softness + 0.5;
  const auto blob = (field - uniform(each, -0.5, 1.0, generator)) / softness + 0.5;
  const auto is_stroke = torch::rand(each, generator) < 0.7;
  const auto inside =
      torch::where(torch::rand(each, generator) < 0.7, window(count, shape, generator), torch::ones({1, 1, 1, 1}));
  return torch::where(is_stroke, stroke, blob).clamp(0, 1) * inside;
}

}  // namespace

torch::Tensor random_shapes(int64_t count, const ImageShape& shape, const torch::Tensor& backgrounds, uint64_t seed) {
  check_range("random_shapes", "count", count >= 0, "at least 0", static_cast<double>(count));
  check_range("random_shapes", "shape", shape.channels > 0 && shape.height > 0 && shape.width > 0, "not empty", 0);
  auto generator = make_generator(seed);
  constexpr std::array<int64_t, 4> kCells = {2, 3, 4, 6};
  std::vector<torch::Tensor> parts;
  for (size_t i = 0; i < kCells.size(); ++i) {
    const auto first = count * static_cast<int64_t>(i) / 4;
    parts.push_back(coverage(count * static_cast<int64_t>(i + 1) / 4 - first, kCells[i], shape, generator));
  }
  const auto covered = torch::cat(parts);
  const auto chosen = torch::randint(0, backgrounds.size(0), {count}, generator, torch::kInt64);
  const auto background = backgrounds.index_select(0, chosen).view({count, shape.channels, 1, 1});
  const auto colour = uniform({count, shape.channels, 1, 1}, 0, 255, generator);
  return (background + covered * (colour - background)).round().clamp(0, 255).to(torch::kUInt8);
}

torch::Tensor shuffled_tiles(int64_t count, const torch::Tensor& images, uint64_t seed) {
  check_range("shuffled_tiles", "count", count >= 0, "at least 0", static_cast<double>(count));
  auto generator = make_generator(seed);
  const auto chosen = torch::randint(0, images.size(0), {count}, generator, torch::kInt64);
  auto result = images.to(torch::kCPU).index_select(0, chosen).clone();
  const auto height = images.size(2);
  const auto width = images.size(3);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t cut = i % 2 == 0 ? 2 : 4;
    const auto tall = height / cut;
    const auto wide = width / cut;
    auto image = result[i];
    if (tall == 0 || wide == 0) {
      image.copy_(image.index_select(1, torch::randperm(height, generator, torch::kInt64)));
      continue;
    }
    const auto before = image.clone();
    const auto places = torch::randperm(cut * cut, generator, torch::kInt64);
    const auto* place = places.data_ptr<int64_t>();
    const auto tile = [&](const torch::Tensor& of, int64_t at) {
      return of.narrow(1, at / cut * tall, tall).narrow(2, at % cut * wide, wide);
    };
    for (int64_t at = 0; at < cut * cut; ++at) tile(image, at).copy_(tile(before, place[at]));
  }
  return result;
}

torch::Tensor background_colours(const torch::Tensor& images) {
  return std::get<0>(images.flatten(2).median(2)).to(torch::kFloat32);
}

}  // namespace priornet
