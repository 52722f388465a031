#include <priornet/core/rows.h>
#include <priornet/data/transforms/augment_work.h>
#include <priornet/data/transforms/augmentation_kernels.h>

namespace priornet {

torch::Tensor augment_by_pixel(const torch::Tensor& images, const AugmentationOptions& options,
                               const AugmentationParameters& parameters) {
  const ImageShape shape{images.size(1), images.size(2), images.size(3)};
  const auto source = images.contiguous();
  const auto result = torch::empty_like(source);
  const AugmentWork work{plan_of(options, shape),
                         source.data_ptr<uint8_t>(),
                         result.data_ptr<uint8_t>(),
                         parameters.flip.data_ptr<int32_t>(),
                         parameters.shift.data_ptr<int32_t>(),
                         parameters.rotation.data_ptr<float>(),
                         parameters.hole.data_ptr<int32_t>()};
  for_each_row(work, images.size(0) * shape.height * shape.width, shape.channels, is_on_cuda("augment", images));
  return result;
}

}  // namespace priornet
