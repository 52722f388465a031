#include "uncertainty/dirichlet/measure_gpu.h"

#include <algorithm>

#include "uncertainty/core/rows.cuh"
#include "uncertainty/dirichlet/warp_lanes.cuh"

// Rows of float32 logits are measured in float32 where that is exact enough (single_measure_row.h): short ones by one
// thread each, from shared memory; long ones by a group of lanes. Rows that need float64 are marked by a prediction of
// -1; another kernel computes them afterwards, so that the usual one need not hold its registers. The prediction of the
// first of 32 short rows also says whether any of them is left, so that this kernel reads one of 32.

namespace priornet {
namespace {

constexpr int kThreads = 128;
constexpr int kLongestShortRow = 32;
constexpr int kLongestMediumRow = 256;
constexpr int64_t kLeft = -1;

unsigned blocks_for(int64_t threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

/// A prediction that also says that one of 32 rows is left; and the prediction in it.
__device__ inline int64_t marked(int64_t prediction) { return kLeft - 1 - prediction; }

/// A row for which is_single_enough.
__device__ inline void store_single(const MeasureRows<float>& work, int64_t row, const SingleSums<double>& sums,
                                    float top, int top_index) {
  const auto measures = measures_of(sums, work.classes, top, top_index);
  for (int m = 0; m < kDirichletMeasures; ++m) work.measures[m][row] = static_cast<float>(measures.values[m].value);
}

/// `shift` is 2^32 / classes, rounded up.
__global__ void __launch_bounds__(kThreads) short_rows(MeasureRows<float> work, unsigned shift) {
  extern __shared__ float staged[];
  const int classes = static_cast<int>(work.classes);
  const int stride = classes | 1;  // odd: neighbouring threads read from different banks
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads;
  const int count = static_cast<int>(min(static_cast<int64_t>(kThreads), work.rows - first));
  const float* logits = work.logits + first * classes;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < count * classes; i += kThreads)
    staged[stride == classes ? i : i + static_cast<int>(__umulhi(static_cast<unsigned>(i), shift))] = logits[i];
  __syncthreads();

  // All lanes of a warp stay together: one without a row repeats the last.
  const float* row = staged + min(static_cast<int>(threadIdx.x), count - 1) * stride;
  float top = row[0];
  int top_index = 0;
  for (int c = 1; c < classes; ++c) {
    top_index = row[c] > top ? c : top_index;
    top = fmaxf(top, row[c]);
  }
  SingleSums<double> sums;
  int begin = 0;
  for (; begin + kSingleChunk <= classes; begin += kSingleChunk) {
    SingleSums<float> chunk;
#pragma unroll
    for (int k = 0; k < kSingleChunk; ++k) add_single(chunk, row[begin + k], top, begin + k == top_index);
    sums.add(chunk);
  }
  if (begin < classes) {
    SingleSums<float> chunk;
#pragma unroll 2
    for (int c = begin; c < classes; ++c) add_single(chunk, row[c], top, c == top_index);
    sums.add(chunk);
  }
  const bool enough = is_single_enough(sums, top);
  const bool all_enough = __all_sync(kWholeWarp, enough);
  if (static_cast<int>(threadIdx.x) >= count) return;
  const int64_t prediction = enough ? top_index : kLeft;
  const bool tells = threadIdx.x % 32 == 0 && enough && !all_enough;
  work.prediction[first + threadIdx.x] = tells ? marked(prediction) : prediction;
  if (enough) store_single(work, first + threadIdx.x, sums, top, top_index);
}

/// Each group of lanes takes some rows in turn, at most as many as it has lanes, and then one lane finishes each of
/// them.
template <int kLanes, bool kQuads>
__global__ void __launch_bounds__(kThreads) long_rows(MeasureRows<float> work, int rows_per_group) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t first = thread / kLanes * rows_per_group;
  SingleSums<double> kept;
  float kept_top = 0;
  int kept_index = 0;
  for (int r = 0; r < rows_per_group; ++r) {
    // All lanes of a warp stay together: a group without rows repeats the last.
    const int64_t row = min(first + r, work.rows - 1);
    const LaneShare<kLanes, kQuads> share{work.logits + row * work.classes, static_cast<int>(work.classes), lane};
    float top;
    int top_index;
    share.find_top(top, top_index);
    group_largest<kLanes>(top, top_index);
    const auto sums = merged<kLanes>(share.sums(top, top_index));
    if (lane == r) {
      kept = sums;
      kept_top = top;
      kept_index = top_index;
    }
  }
  if (lane >= rows_per_group || first + lane >= work.rows) return;
  const bool enough = is_single_enough(kept, kept_top);
  work.prediction[first + lane] = enough ? kept_index : kLeft;
  if (enough) store_single(work, first + lane, kept, kept_top, kept_index);
}

/// Short rows that are marked as left, one thread each. A warp takes up to 32 times 32 rows.
__global__ void __launch_bounds__(kThreads) left_short_rows(MeasureRows<float> work, int groups_per_warp) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t first = thread / 32 * groups_per_warp * 32;
  const int64_t begin = first + lane * 32;
  unsigned wanted =
      __ballot_sync(kWholeWarp, lane < groups_per_warp && begin < work.rows && work.prediction[begin] < 0);
  for (; wanted != 0; wanted &= wanted - 1) {
    const int64_t row = first + (__ffs(static_cast<int>(wanted)) - 1) * 32 + lane;
    if (row >= work.rows) continue;
    const int64_t prediction = work.prediction[row];
    if (prediction == kLeft)
      MeasureWork<float>{work}(row);
    else if (prediction < 0)
      work.prediction[row] = marked(prediction);
  }
}

template <class Digits, bool kWide, class Load>
__device__ inline RowMeasures<double> measure_by_warp(const Load& load, int64_t classes,
                                                      const RowExtent<double>& extent, int lane) {
  const auto share = measure_sums<Digits, kWide>(load, classes, extent, lane, 32);
  return measures_of<Digits, kWide>(merged<32>(share), classes, extent);
}

/// In float64, one warp per row: all rows, or those that are marked as left.
template <class T>
__global__ void __launch_bounds__(kThreads) rows_by_warp(MeasureRows<T> work, int rows_per_warp, bool only_left) {
  using Digits = typename DigitsOf<T>::Type;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t first = thread / 32 * rows_per_warp;
  const bool has_row = lane < rows_per_warp && first + lane < work.rows;
  unsigned wanted = __ballot_sync(kWholeWarp, has_row && (!only_left || work.prediction[first + lane] == kLeft));
  for (; wanted != 0; wanted &= wanted - 1) {
    const int64_t row = first + __ffs(static_cast<int>(wanted)) - 1;
    const ScalarRow<T> load{work.logits + row * work.classes};
    const auto extent = group_extent<32>(row_extent<double>(load, work.classes, lane, 32));
    const auto measures = is_wide(extent) ? measure_by_warp<Digits, true>(load, work.classes, extent, lane)
                                          : measure_by_warp<Digits, false>(load, work.classes, extent, lane);
    if (lane == 0) store_measures(work, row, measures);
  }
}

/// How many threads keep this GPU busy: 32 warps on each of its multiprocessors.
int64_t threads_of_device() {
  int device = 0, processors = 0;
  const bool known = cudaGetDevice(&device) == cudaSuccess &&
                     cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess;
  return int64_t{32} * 32 * (known ? processors : 1);
}

/// How many rows a group of lanes takes: as many as it can finish at once, fewer if the device would not be full.
/// Rounded up: a few groups that start after the others have ended would take as long again.
int rows_per_group(int64_t rows, int lanes) {
  const int64_t threads = threads_of_device();
  return static_cast<int>(std::clamp<int64_t>((rows * lanes + threads - 1) / threads, 1, lanes));
}

template <int kLanes>
void launch_long_rows(const MeasureRows<float>& work, cudaStream_t stream) {
  const int each = rows_per_group(work.rows, kLanes);
  const unsigned blocks = blocks_for((work.rows + each - 1) / each * kLanes);
  const bool aligned = work.classes % 4 == 0 && reinterpret_cast<std::uintptr_t>(work.logits) % 16 == 0;
  if (aligned)
    long_rows<kLanes, true><<<blocks, kThreads, 0, stream>>>(work, each);
  else
    long_rows<kLanes, false><<<blocks, kThreads, 0, stream>>>(work, each);
  check_launch();
}

template <class T>
void launch_rows_by_warp(const MeasureRows<T>& work, bool only_left, cudaStream_t stream) {
  const int each = only_left ? 32 : rows_per_group(work.rows, 32);
  rows_by_warp<T><<<blocks_for((work.rows + each - 1) / each * 32), kThreads, 0, stream>>>(work, each, only_left);
  check_launch();
}

template <class T>
void launch_in_double(const MeasureRows<T>& work, cudaStream_t stream) {
  if (work.classes > kLongestShortRow) return launch_rows_by_warp(work, false, stream);
  launch_rows(MeasureWork<T>{work}, work.rows, stream);
}

}  // namespace

template <>
void launch_measures<double>(const MeasureRows<double>& work, void* stream) {
  if (work.rows > 0) launch_in_double(work, static_cast<cudaStream_t>(stream));
}

template <>
void launch_measures<float>(const MeasureRows<float>& work, void* on_stream) {
  const auto stream = static_cast<cudaStream_t>(on_stream);
  if (work.rows == 0) return;
  if (work.classes < kSingleFewestClasses) return launch_in_double(work, stream);
  if (work.classes <= kLongestShortRow) {
    const auto classes = static_cast<unsigned>(work.classes);
    const std::size_t staged = kThreads * (classes | 1u) * sizeof(float);
    short_rows<<<blocks_for(work.rows), kThreads, staged, stream>>>(work, 0xffffffffu / classes + 1);
    check_launch();
    const int64_t groups = (work.rows + 31) / 32;
    const int each = rows_per_group(groups, 32);
    left_short_rows<<<blocks_for((groups + each - 1) / each * 32), kThreads, 0, stream>>>(work, each);
    return check_launch();
  }
  if (work.classes <= kLongestMediumRow)
    launch_long_rows<8>(work, stream);
  else
    launch_long_rows<32>(work, stream);
  launch_rows_by_warp(work, true, stream);
}

}  // namespace priornet
