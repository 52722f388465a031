#pragma once

#include <priornet/learning/resize.h>
#include <priornet/learning/transforms.h>
#include <torch/types.h>

#include <cstdint>

// Augmentation of a batch, on the device of the batch, without waiting for that device. Flip, shift and rotation are
// combined into one look-up of source pixels, so nothing is resampled twice, and an image that is not rotated is copied
// bit for bit.

namespace priornet {

struct AugmentationOptions {
  bool flip = false;            ///< left to right, each image with probability 1/2
  int64_t shift = 0;            ///< whole pixels, up to this many each way: the image is reflected at its border, whose
                                ///< own pixels are not repeated, and cropped; below height and width
  double rotation_degrees = 0;  ///< uniform in +- this, about the centre
  /// kNearest, as in the authors' code, or kBilinear, which blurs training images and no test image.
  Resampling rotation_resampling = Resampling::kNearest;
  /// What fills the corners that rotation uncovers: black, as in the authors' tf.contrib.image.rotate, or the reflected
  /// image.
  bool reflect_outside = false;
  /// Side of a square hole, filled with mid-grey (128); 0 for none. Its centre is any pixel, so a part may lie outside.
  int64_t cutout = 0;
};

/// Which random draw: the run's seed and the number of the batch in the run.
struct AugmentationDraw {
  uint64_t seed = 0;
  uint64_t step = 0;
};

/// What happens to each image of a batch, on the device of the images.
struct AugmentationParameters {
  torch::Tensor flip;      ///< int32 [N], 0 or 1
  torch::Tensor shift;     ///< int32 [N, 2]: an output place (x, y) shows the source at (x, y) + shift
  torch::Tensor rotation;  ///< float32 [N, 2]: cosine and sine of the angle
  torch::Tensor hole;      ///< int32 [N, 2]: left and top of the hole
};

/// Depends only on the options, the draw and an image's place in the batch: the same on every device and with any
/// number of threads. Switching one step off does not change the draws of the others.
AugmentationParameters draw_augmentation(int64_t count, const ImageShape& shape, const AugmentationOptions& options,
                                         const AugmentationDraw& draw, const torch::Device& device);

/// Images uint8 [N, C, H, W], augmented one by one as the parameters say.
torch::Tensor augment(const torch::Tensor& images, const AugmentationOptions& options,
                      const AugmentationParameters& parameters);

/// The same with fresh draws. ArgumentError for tensors that are not images and for options out of range.
torch::Tensor augment(const torch::Tensor& images, const AugmentationOptions& options, const AugmentationDraw& draw);

}  // namespace priornet
