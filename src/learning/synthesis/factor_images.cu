#include "learning/synthesis/factor_images.h"

#include "uncertainty/core/rows.cuh"

namespace priornet {
namespace {

constexpr int kThreads = 256;

/// One block makes one image.
__global__ void __launch_bounds__(kThreads) factor_images_kernel(FactorImages work, const int64_t* step) {
  extern __shared__ float vector[];
  __shared__ FactorImages::Image image;
  if (threadIdx.x == 0) image = work.image(*step, blockIdx.x);
  __syncthreads();
  for (int32_t pair = threadIdx.x; pair < work.latent_pairs(); pair += kThreads) work.draw_latent(image, pair, vector);
  __syncthreads();
  for (int32_t pair = threadIdx.x; pair < work.pixel_pairs(); pair += kThreads) work.draw_pixels(image, pair, vector);
}

}  // namespace

void launch_factor_images(const FactorImages& images, const int64_t* step, void* stream) {
  const size_t room = 2 * static_cast<size_t>(images.latent_pairs()) * sizeof(float);
  factor_images_kernel<<<static_cast<unsigned>(images.count), kThreads, room, static_cast<cudaStream_t>(stream)>>>(
      images, step);
  check_launch();
}

}  // namespace priornet
