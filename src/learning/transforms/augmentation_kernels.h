#pragma once

#include <priornet/learning/augmentation.h>

#include <vector>

#include "learning/transforms/augmented_pixel.h"

// The implementations behind augmentation.h; all give the same bytes.

namespace priornet {

/// The options as the kernels take them. ArgumentError if they are out of range.
AugmentationPlan plan_of(const AugmentationOptions& options, const ImageShape& shape);

/// Which stream a run's seed (AugmentationDraw) draws from.
uint64_t augmentation_seed(uint64_t seed);

/// One image at a time on the CPU. It holds its working memory: use one per thread.
class ImageAugmenter {
 public:
  ImageAugmenter(const ImageShape& shape, const AugmentationOptions& options);

  struct Image {
    const uint8_t* in;  ///< [channels, height, width]
    uint8_t* out;
    ImageDraw draw;
  };
  void run(const Image& image);

 private:
  void copy(const Image& image);
  void rotate_nearest(const Image& image);
  void rotate_bilinear(const Image& image);
  void cut(const Image& image);

  ImageShape shape_;
  AugmentationOptions options_;
  std::vector<int32_t> columns_, rows_;  ///< which source column or row each shows, shifted and flipped
  std::vector<int32_t> places_;          ///< which source pixel each pixel shows, -1 for none
};

/// One pixel at a time, where the images lie: for a GPU.
torch::Tensor augment_by_pixel(const torch::Tensor& images, const AugmentationOptions& options,
                               const AugmentationParameters& parameters);

}  // namespace priornet
