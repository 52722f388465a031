#include "learning/training/flat_update.h"

#include <algorithm>

#include "uncertainty/core/rows.cuh"

namespace priornet {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 4;

/// What one thread loads and stores at once.
template <class T>
struct alignas(16) Pack {
  static constexpr int kLanes = 16 / sizeof(T);
  T lanes[kLanes];
};

/// The sum over the block, in every thread, always in the same order.
__device__ double block_sum(double value) {
  __shared__ double warps[kThreads / 32];
  for (int reach = 16; reach > 0; reach /= 2) value += __shfl_xor_sync(0xffffffff, value, reach);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) sum += warps[warp];
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor) norm_kernel(FlatUpdate<T> update) {
  const auto* gradients = reinterpret_cast<const Pack<T>*>(update.gradients);
  const int64_t packs = update.size / Pack<T>::kLanes;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  double sum = 0;
#pragma unroll 4
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < packs; i += stride) {
    const Pack<T> g = gradients[i];
    for (int lane = 0; lane < Pack<T>::kLanes; ++lane) {
      const auto wide = static_cast<double>(g.lanes[lane]);
      sum += wide * wide;
    }
  }
  const double part = block_sum(sum);
  if (threadIdx.x != 0) return;
  update.partials[blockIdx.x] = part;
  // No other thread reads the counter here; the second launch reads the copy.
  if (blockIdx.x == 0) *update.current = (*update.counter)++;
}

template <class Rule, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor) update_kernel(FlatUpdate<T> update, Rule chosen) {
  constexpr bool kTwoMoments = Rule::kMoments.size() == 2;
  double sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) sum += update.partials[i];
  const double norm = sqrt(block_sum(sum));
  if (blockIdx.x == 0 && threadIdx.x == 0) *update.norm = norm;
  const auto factor = static_cast<T>(clip_factor(norm, update.clip));
  const typename Rule::template Update<T> rule(chosen, row_of(update, *update.current, Rule::kCoefficients));
  auto* values = reinterpret_cast<Pack<T>*>(update.values);
  const auto* gradients = reinterpret_cast<const Pack<T>*>(update.gradients);
  auto* first = reinterpret_cast<Pack<T>*>(update.moments[0]);
  auto* second = reinterpret_cast<Pack<T>*>(update.moments[1]);
  const int64_t packs = update.size / Pack<T>::kLanes;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < packs; i += stride) {
    Pack<T> p = values[i], m = first[i], v{};
    const Pack<T> g = gradients[i];
    if (kTwoMoments) v = second[i];
    for (int lane = 0; lane < Pack<T>::kLanes; ++lane)
      rule(p.lanes[lane], g.lanes[lane] * factor, m.lanes[lane], v.lanes[lane]);
    values[i] = p;
    first[i] = m;
    if (kTwoMoments) second[i] = v;
  }
}

unsigned blocks_for(int64_t packs) {
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int64_t most = std::clamp(kBlocksPerMultiprocessor * multiprocessors, 1, kNormParts);
  return static_cast<unsigned>(std::clamp<int64_t>((packs + kThreads - 1) / kThreads, 1, most));
}

template <class T>
struct LaunchUpdate {
  const FlatUpdate<T>& update;
  cudaStream_t stream;

  template <class Rule>
  void operator()(const Rule& rule) const {
    const unsigned blocks = blocks_for(update.size / Pack<T>::kLanes);
    norm_kernel<T><<<blocks, kThreads, 0, stream>>>(update);
    check_launch();
    update_kernel<Rule, T><<<blocks, kThreads, 0, stream>>>(update, rule);
    check_launch();
  }
};

}  // namespace

template <class T>
void launch_update(const FlatUpdate<T>& update, const RuleChoice& choice, void* stream) {
  with_rule(choice, LaunchUpdate<T>{update, static_cast<cudaStream_t>(stream)});
}

template void launch_update<float>(const FlatUpdate<float>&, const RuleChoice&, void*);
template void launch_update<double>(const FlatUpdate<double>&, const RuleChoice&, void*);

}  // namespace priornet
