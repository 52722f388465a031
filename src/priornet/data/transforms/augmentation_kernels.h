#pragma once

#include <priornet/data/transforms/augmentation.h>

#include <vector>

// The two ways behind augmentation.h; both give the same bytes.

namespace priornet {

/// What a hole is filled with: 0 in [-1, 1], to half a grey level.
constexpr uint8_t kHoleGrey = 128;

/// One image at a time on the CPU. Holds the room it works in: one a thread.
class ImageAugmenter {
 public:
  ImageAugmenter(const ImageShape& shape, const AugmentationOptions& options);

  struct Image {
    const uint8_t* in;  ///< [channels, height, width]
    uint8_t* out;
    bool flip;
    int32_t shift_x, shift_y;
    float cosine, sine;
    int32_t hole_left, hole_top;
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

/// The whole batch by tensor operations on its device.
torch::Tensor augment_by_gathering(const torch::Tensor& images, const AugmentationOptions& options,
                                   const AugmentationParameters& parameters);

}  // namespace priornet
