#include "learning/training/batch_images.h"

#include "uncertainty/core/rows.cuh"

namespace priornet {
namespace {

constexpr int kThreads = 256;

/// One block makes one image.
__global__ void __launch_bounds__(kThreads) images_kernel(ImageBatch batch) {
  __shared__ ImageBatch::Image image;
  if (threadIdx.x == 0) image = batch.image(blockIdx.x);
  __syncthreads();
  for (int32_t pixel = threadIdx.x; pixel < batch.pixels(); pixel += kThreads) batch.fill(image, pixel);
}

/// One block, so that the counter moves only after all threads have read it.
__global__ void __launch_bounds__(kThreads) rows_of_batch_kernel(BatchRows rows) {
  for (int64_t n = threadIdx.x; n < rows.part.count; n += kThreads) rows(n);
  __syncthreads();
  if (threadIdx.x == 0) ++*rows.step;
}

}  // namespace

void launch_batch(const ImageBatch& images, const BatchRows& rows, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  images_kernel<<<static_cast<unsigned>(images.images()), kThreads, 0, on>>>(images);
  check_launch();
  rows_of_batch_kernel<<<1, kThreads, 0, on>>>(rows);
  check_launch();
}

}  // namespace priornet
