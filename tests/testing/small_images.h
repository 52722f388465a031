#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/random.h>

namespace priornet {

/// Three classes of noisy 8x8 images: a bright bar at the left, in the middle, at the right.
inline Dataset small_images(int64_t count, uint64_t seed) {
  auto generator = make_generator(seed);
  const auto labels = torch::randint(0, 3, {count}, generator, torch::kInt64);
  auto images = torch::randint(0, 90, {count, 1, 8, 8}, generator, torch::kInt64);
  for (int64_t i = 0; i < count; ++i) images[i][0].narrow(1, 3 * labels[i].item<int64_t>(), 2).add_(120);
  return {"small", images.to(torch::kUInt8), labels, {"left", "middle", "right"}, {}};
}

}  // namespace priornet
