#include "uncertainty/losses/loss_gpu.h"

#include <algorithm>
#include <type_traits>

#include "uncertainty/core/rows.cuh"
#include "uncertainty/dirichlet/logit_row.h"
#include "uncertainty/dirichlet/quick_double.h"
#include "uncertainty/dirichlet/warp_lanes.cuh"
#include "uncertainty/losses/single_loss_row.h"

// A group of lanes works on each row and keeps what it needs of the row's classes in shared memory until the sums are
// known and the gradient can be written. Many short rows get one lane each: then there is nothing to exchange, and no
// lane repeats what is computed once per row: 3.7 times the plain formulas at 10 classes, where 16 lanes per row had
// 0.9 times (docs/results.md). Few rows, as in a batch, and long ones get 16 or 32. Float32 rows of these are computed
// in float32 first, where that is exact enough; rows that need float64 are marked, and another kernel computes them
// afterwards, so that the usual one needs neither its registers nor its shared memory.

namespace priornet {
namespace {

constexpr int kThreads = 128;
constexpr int64_t kLongestShortRow = 15;           // a block keeps as many in kSharedBytes
constexpr int64_t kLongestMediumRow = 128;         // longer ones get a whole warp
constexpr int64_t kManyRows = 16384;               // fill a GPU with one lane each
constexpr size_t kSharedBytes = 48 * 1024;         // that every kernel may take
constexpr size_t kLargestSharedBytes = 96 * 1024;  // that it may ask for, on every GPU since 2020

/// How the rows of a batch are shared out.
struct Layout {
  int lanes;          ///< of a row
  int64_t groups;     ///< of a block, one row each at a time
  size_t shared;      ///< bytes, what the groups of a block keep; 0: they keep it in global memory
  int64_t in_global;  ///< what they keep there, for all classes of all rows
};

Layout layout_for(int64_t rows, int64_t classes) {
  const int lanes = classes <= kLongestShortRow && rows >= kManyRows ? 1 : classes <= kLongestMediumRow ? 16 : 32;
  const int64_t groups = kThreads / lanes;
  const auto bytes = static_cast<size_t>(groups * classes) * sizeof(KeptClass<double>);
  const bool fits = bytes <= kLargestSharedBytes;
  return {lanes, groups, fits ? bytes : 0, fits ? 0 : rows * classes};
}

/// How many blocks the rows fill, at most kLossBlocks: each has a slot in partial_sums.
unsigned slots_for(int64_t rows, int64_t classes) {
  const auto groups = layout_for(rows, classes).groups;
  return static_cast<unsigned>(std::min((rows + groups - 1) / groups, kLossBlocks));
}

/// Logits that neighbouring lanes read without waiting for each other.
template <class T>
struct StagedRow {
  const T* values;
  int stride;

  __device__ T at(int64_t c) const { return values[c * stride]; }
  __device__ double operator()(int64_t c) const { return static_cast<double>(at(c)); }
};

/// The largest and the smallest logit of a row, compared as T: a comparison of doubles takes several times as long.
template <int kLanes, class Real, class Logits>
__device__ RowExtent<Real> extremes(const Logits& logits, int64_t classes, int lane) {
  auto top = logits.at(0);
  auto bottom = top;
  for (int64_t c = lane; c < classes; c += kLanes) {
    top = larger(logits.at(c), top);
    bottom = smaller(logits.at(c), bottom);
  }
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    top = larger(__shfl_xor_sync(kWholeWarp, top, offset), top);
    bottom = smaller(__shfl_xor_sync(kWholeWarp, bottom, offset), bottom);
  }
  return {static_cast<double>(top), 0.0, static_cast<double>(bottom)};
}

/// What a row keeps about its classes, each `stride` after the last.
template <class Real>
struct KeptClasses {
  KeptClass<Real>* first;
  int stride;

  __device__ KeptClass<Real>& operator[](int64_t c) const { return first[c * stride]; }
};

/// The type that computes a row of T. Float32 needs no exact quotients, exponentials and logarithms, which take most of
/// the time; a teacher's probabilities may be 0, and only double can take the logarithm of 0.
template <class T, bool kTeacher>
using RowReal = std::conditional_t<std::is_same_v<T, float> && !kTeacher, QuickDouble, double>;

/// One row of a batch, by the lanes of a group. The lanes of a warp stay together where they exchange values, and none
/// of these places depends on the row.
template <RowDivergence kDivergence, bool kTeacher, int kLanes, class T>
class GroupLoss {
 public:
  using Digits = typename DigitsOf<T>::Type;
  using Real = RowReal<T, kTeacher>;

  template <class Logits>
  __device__ GroupLoss(const LossBatch<T>& batch, int64_t row, int lane, const Logits& logits,
                       const KeptClasses<Real>& kept)
      : lane_(lane), kept_(kept) {
    inside_ = row < batch.inside.rows;
    part_ = inside_ ? &batch.inside : &batch.outside;
    row_ = inside_ ? row : row - batch.inside.rows;
    label_ = part_->labels == nullptr ? -1.0 : static_cast<double>(part_->labels[row_]);
    const auto extent = extremes<kLanes, Real>(logits, part_->classes, lane);
    const bool wide = is_wide(extent);  // of the whole group
    auto sums = wide ? share_of<true>(logits, extent) : share_of<false>(logits, extent);
    if constexpr (kLanes > 1) {
      const auto over_group = [](Real share) -> Real { return group_sum<kLanes>(as_double(share)); };
      sums.exp = over_group(sums.exp);
      sums.mean = over_group(sums.mean);
      sums.rest = over_group(sums.rest);
      sums.t_label = over_group(sums.t_label);
      sums.product = LogProduct<Real>::of_logarithm(over_group(sums.product.logarithm()));
    }
    totals_ = with_target([&](const auto& target) {
      return wide ? loss_totals<Digits, kDivergence, true>(sums, extent, target)
                  : loss_totals<Digits, kDivergence, false>(sums, extent, target);
    });
  }

  __device__ bool inside() const { return inside_; }
  __device__ bool has_label() const { return part_->labels != nullptr; }
  __device__ bool has_gradient() const { return part_->gradient != nullptr; }
  __device__ T divergence() const { return saturate<T>(as_double(totals_.loss.divergence)); }
  __device__ T cross_entropy() const { return saturate<T>(as_double(totals_.loss.cross_entropy)); }
  /// The gradient of the row, in global memory.
  __device__ T* gradient() const { return part_->gradient + row_ * part_->classes; }

  /// Writes the lane's share of the gradient: class c to gradient[c * stride].
  __device__ void store_gradient(double steepest, T* gradient, int stride) const {
    const auto held = [&](int64_t c, Real exact) {
      const double value = as_double(exact);
      gradient[c * stride] = saturate<T>(value > steepest ? steepest : (value < -steepest ? -steepest : value));
    };
    loss_gradient<kDivergence>(totals_, part_->classes, label_, part_->weights, kept_, held, lane_, kLanes);
  }

  __device__ void store_values() const {
    if (lane_ != 0) return;
    if (part_->divergences != nullptr) part_->divergences[row_] = divergence();
    if (part_->cross_entropies != nullptr) part_->cross_entropies[row_] = cross_entropy();
  }

 private:
  /// The sums over the classes of this lane.
  template <bool kWide, class Logits>
  __device__ LossSums<Real> share_of(const Logits& logits, const RowExtent<Real>& extent) const {
    return with_target([&](const auto& target) {
      constexpr int kAtOnce = kLanes > 1 ? 2 : 1;
      return loss_sums<Digits, kDivergence, kWide, kAtOnce>(logits, part_->classes, extent, target, label_, kept_,
                                                            lane_, kLanes);
    });
  }

  template <class Body>
  __device__ auto with_target(const Body& body) const {
    if constexpr (kTeacher) {
      if (inside_) {
        const ScalarRow<T> teacher{part_->probabilities + row_ * part_->classes};
        return body(TeacherTarget<Digits, Real, ScalarRow<T>>(teacher, part_->classes, part_->alpha0));
      }
    }
    return body(LabelTarget<Real>{part_->target.on, part_->target.off, part_->target.sum, label_});
  }

  int lane_;
  KeptClasses<Real> kept_;
  bool inside_;
  const LossRows<T>* part_;
  int64_t row_;
  Real label_;
  LossTotals<Real> totals_;
};

/// What a lane adds up over its rows.
struct LaneSums {
  double inside = 0, outside = 0, cross_entropy = 0;

  template <class Loss>
  __device__ void add(const Loss& loss) {
    const auto divergence = static_cast<double>(loss.divergence());
    inside += loss.inside() ? divergence : 0.0;
    outside += loss.inside() ? 0.0 : divergence;
    cross_entropy += loss.has_label() ? static_cast<double>(loss.cross_entropy()) : 0.0;
  }

  /// The sums over the block, always in the same order; the first of kLanes lanes holds the sums of all of them. All
  /// threads of the block call it together. `slots`: of all blocks, those without a block become 0. `adds`: to what is
  /// there.
  template <int kLanes>
  __device__ void store(double* partial_sums, unsigned slots, bool adds = false) const {
    constexpr int kWarps = kThreads / 32;
    __shared__ double of_warps[kWarps][kLossSums];
    const bool speaks = threadIdx.x % kLanes == 0;
    const auto of_warp = [&](LossSum which, double value) {
      const double sum = group_sum<32>(speaks ? value : 0.0);
      if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32][which] = sum;
    };
    of_warp(kInsideSum, inside);
    of_warp(kOutsideSum, outside);
    of_warp(kCrossEntropySum, cross_entropy);
    __syncthreads();
    if (threadIdx.x >= kLossSums) return;
    double sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += of_warps[warp][threadIdx.x];
    double& kept = partial_sums[blockIdx.x * kLossSums + threadIdx.x];
    kept = adds ? kept + sum : sum;
    for (unsigned slot = blockIdx.x + gridDim.x; !adds && slot < slots; slot += gridDim.x)
      partial_sums[slot * kLossSums + threadIdx.x] = 0;
  }
};

/// Where one of the rows of this warp is left: the first of base, base + step, ... or, if there is none, `rows`. Each
/// lane looks at another step.
template <int kLanes>
__device__ int64_t next_left(const bool* left, int64_t base, int64_t step, int64_t rows) {
  constexpr int kRows = 32 / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (; base < rows; base += 32 * step) {
    const int64_t first = base + lane * step + threadIdx.x / 32 * kRows;
    bool is_left = false;
    for (int64_t row = first; row < min(first + kRows, rows); ++row) is_left = is_left || left[row];
    const unsigned found = __ballot_sync(kWholeWarp, is_left);
    if (found != 0) return base + (__ffs(static_cast<int>(found)) - 1) * step;
  }
  return rows;
}

/// Rows by groups of lanes. `global`: where they keep their classes if shared memory has no room, or null. `left`:
/// which rows single_kernel has left, or null if it has not run.
template <RowDivergence kDivergence, bool kTeacher, int kLanes, class T>
__global__ void __launch_bounds__(kThreads, 3)
    group_kernel(const __grid_constant__ LossBatch<T> batch, KeptClass<double>* global, const bool* left,
                 unsigned slots) {
  extern __shared__ KeptClass<double> shared[];
  using Kept = KeptClass<RowReal<T, kTeacher>>;
  auto* in_shared = reinterpret_cast<Kept*>(shared);
  auto* in_global = reinterpret_cast<Kept*>(global);
  constexpr int kGroups = kThreads / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int64_t classes = batch.inside.classes;
  const int64_t rows = batch.inside.rows + batch.outside.rows;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kGroups;
  LaneSums sums;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * kGroups; base < rows; base += step) {
    if (left != nullptr) base = next_left<kLanes>(left, base, step, rows);
    if (base >= rows) break;
    // A group without a row repeats the last, so that its warp stays together.
    const bool has_row = base + group < rows;
    const int64_t row = has_row ? base + group : rows - 1;
    const bool is_wanted = has_row && (left == nullptr || left[row]);
    const auto& part = row < batch.inside.rows ? batch.inside : batch.outside;
    const ScalarRow<T> logits{part.logits + (row < batch.inside.rows ? row : row - batch.inside.rows) * classes};
    const KeptClasses<RowReal<T, kTeacher>> kept{
        in_global == nullptr ? in_shared + group * classes : in_global + row * classes, 1};
    const GroupLoss<kDivergence, kTeacher, kLanes, T> loss(batch, row, lane, logits, kept);
    if (!is_wanted) continue;
    if (loss.has_gradient()) loss.store_gradient(batch.steepest, loss.gradient(), 1);
    loss.store_values();
    sums.add(loss);
  }
  if (batch.partial_sums != nullptr) sums.template store<kLanes>(batch.partial_sums, slots, left != nullptr);
}

/// One row of float32 logits, by the lanes of a group as in GroupLoss: single_loss_row.h.
template <int kLanes, bool kQuads>
class SingleGroupLoss {
 public:
  __device__ SingleGroupLoss(const LossBatch<float>& batch, int64_t row, int lane) {
    inside_ = row < batch.inside.rows;
    part_ = inside_ ? &batch.inside : &batch.outside;
    row_ = inside_ ? row : row - batch.inside.rows;
    const LaneShare<kLanes, kQuads> share{logits(), static_cast<int>(part_->classes), lane};
    double alpha0 = 0;
    float largest = 0;
    each(share, [&](int, const auto& values) {
#pragma unroll
      for (const float z : values.at) {
        alpha0 += concentration_of(z);
        largest = fmaxf(largest, fabsf(z));
      }
    });
    alpha0 = group_sum<kLanes>(alpha0);
#pragma unroll
    for (int offset = kLanes / 2; offset > 0; offset /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, offset));

    label_ = has_label() ? static_cast<int>(part_->labels[row_]) : -1;
    const float label_logit = logits()[label_ < 0 ? 0 : label_];
    const SingleLabel label{label_, static_cast<double>(label_logit), concentration_of(label_logit)};
    // Odd lanes compute what is needed of the label, even ones what is needed of alpha0.
    const auto half = single_total(alpha0, label, lane % 2 == 1);
    const auto from = [&half](int which) {
      const auto value = [which](double x) { return __shfl_sync(kWholeWarp, x, which, kLanes); };
      return SingleTotal{value(half.log), value(half.m), value(half.a_d)};
    };
    const SingleTotal total = from(0), of_label = from(1);
    const double inverse = quick_inverse(alpha0);
    const SingleLossRow all(total.log, total.a_d, inverse, part_->target.off.psi_difference, part_->weights);

    const auto steepest = static_cast<float>(batch.steepest);
    SingleLossTerms<double> sums;
    each(share, [&](int c, auto values) {
      SingleLossTerms<float> chunk;
#pragma unroll
      for (int i = 0; i < share.kWidth; ++i) {
        float gradient;
        const auto terms = single_loss_class(values.at[i], all, gradient);
        const bool is_label = c + i == label_;
        chunk.value += is_label ? 0.0f : terms.value;
        chunk.size += is_label ? 0.0f : terms.size;
        values.at[i] = fminf(fmaxf(gradient, -steepest), steepest);
      }
      if (part_->gradient != nullptr) share.write(gradient(), c, values);
      sums.add(chunk);
    });
    sums = {group_sum<kLanes>(sums.value), group_sum<kLanes>(sums.size)};
    loss_ = single_loss(sums, largest, total, inverse, label, of_label, part_->target, part_->weights);
  }

  __device__ bool enough() const { return loss_.enough; }
  __device__ bool inside() const { return inside_; }
  __device__ bool has_label() const { return part_->labels != nullptr; }
  __device__ float divergence() const { return saturate<float>(loss_.divergence); }
  __device__ float cross_entropy() const { return saturate<float>(loss_.cross_entropy); }

  /// By one lane, after the others have written their shares of the gradient.
  __device__ void store(double steepest) const {
    if (part_->divergences != nullptr) part_->divergences[row_] = divergence();
    if (part_->cross_entropies != nullptr) part_->cross_entropies[row_] = cross_entropy();
    if (part_->gradient != nullptr && label_ >= 0)
      gradient()[label_] = static_cast<float>(fmin(fmax(loss_.label_gradient, -steepest), steepest));
  }

 private:
  template <class Visit>
  __device__ static void each(const LaneShare<kLanes, kQuads>& share, const Visit& visit) {
#pragma unroll 1
    for (int c = share.lane * share.kWidth; c < share.classes; c += kLanes * share.kWidth) visit(c, share.read(c));
  }
  __device__ const float* logits() const { return part_->logits + row_ * part_->classes; }
  __device__ float* gradient() const { return part_->gradient + row_ * part_->classes; }

  bool inside_;
  const LossRows<float>* part_;
  int64_t row_;
  int label_;
  SingleLoss loss_;
};

/// Rows in float32, by groups of lanes; left[row] says whether the row is left to group_kernel.
template <int kLanes, bool kQuads>
__global__ void __launch_bounds__(kThreads, 7)
    single_kernel(const __grid_constant__ LossBatch<float> batch, bool* left, unsigned slots) {
  constexpr int kGroups = kThreads / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int64_t rows = batch.inside.rows + batch.outside.rows;
  LaneSums sums;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * kGroups; base < rows;
       base += static_cast<int64_t>(gridDim.x) * kGroups) {
    // A group without a row repeats the last, so that its warp stays together.
    const bool has_row = base + group < rows;
    const int64_t row = has_row ? base + group : rows - 1;
    const SingleGroupLoss<kLanes, kQuads> loss(batch, row, lane);
    __syncwarp();
    if (!has_row) continue;
    if (lane == 0) left[row] = !loss.enough();
    if (!loss.enough()) continue;
    if (lane == 0) loss.store(batch.steepest);
    sums.add(loss);
  }
  if (batch.partial_sums != nullptr) sums.store<kLanes>(batch.partial_sums, slots);
}

/// Short rows, one per lane. Logits and gradients pass through shared memory, so that neighbouring lanes read and write
/// neighbouring numbers. `shift` is 2^32 / classes, rounded up.
template <RowDivergence kDivergence, bool kTeacher, class T>
__global__ void __launch_bounds__(kThreads, kTeacher ? 4 : 5)
    lane_kernel(const __grid_constant__ LossBatch<T> batch, unsigned shift, unsigned slots) {
  extern __shared__ KeptClass<double> shared[];
  constexpr int kStride = kThreads + 1;  // odd: neighbours lie in different banks
  const int classes = static_cast<int>(batch.inside.classes);
  T* staged = reinterpret_cast<T*>(shared + classes * kThreads);
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t rows = batch.inside.rows + batch.outside.rows;
  // Calls visit(part, element of it, place in `staged`) for all elements of the block's rows.
  const auto each_element = [&](int64_t base, const auto& visit) {
    const int count = static_cast<int>(min(static_cast<int64_t>(kThreads), rows - base)) * classes;
    for (int i = thread; i < count; i += kThreads) {
      const int row = static_cast<int>(__umulhi(static_cast<unsigned>(i), shift));
      const int64_t element = base * classes + i;
      const int64_t inside = batch.inside.rows * classes;
      const int place = (i - row * classes) * kStride + row;
      if (element < inside)
        visit(batch.inside, element, place);
      else
        visit(batch.outside, element - inside, place);
    }
  };
  LaneSums sums;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * kThreads; base < rows;
       base += static_cast<int64_t>(gridDim.x) * kThreads) {
    each_element(base,
                 [&](const LossRows<T>& part, int64_t element, int place) { staged[place] = part.logits[element]; });
    __syncthreads();
    if (base + thread < rows) {
      const StagedRow<T> logits{staged + thread, kStride};
      auto* kept = reinterpret_cast<KeptClass<RowReal<T, kTeacher>>*>(shared);
      const GroupLoss<kDivergence, kTeacher, 1, T> loss(batch, base + thread, 0, logits, {kept + thread, kThreads});
      if (loss.has_gradient()) loss.store_gradient(batch.steepest, staged + thread, kStride);
      loss.store_values();
      sums.add(loss);
    }
    __syncthreads();
    each_element(base, [&](const LossRows<T>& part, int64_t element, int place) {
      if (part.gradient != nullptr) part.gradient[element] = staged[place];
    });
    __syncthreads();
  }
  if (batch.partial_sums != nullptr) sums.template store<1>(batch.partial_sums, slots);
}

/// By one warp, always in the same order.
template <class T>
__global__ void means_kernel(LossMeans<T> work, unsigned blocks) {
  double total = 0;
  for (int i = 0; i < kLossSums; ++i) {
    double sum = 0;
    for (unsigned block = threadIdx.x; block < blocks; block += 32) sum += work.partial_sums[block * kLossSums + i];
    const double mean = group_sum<32>(sum) * work.shares[i];
    total += work.weights[i] * mean;
    if (threadIdx.x == 0) *work.means[i] = saturate<T>(mean);
  }
  if (threadIdx.x == 0) *work.total = saturate<T>(total);
}

/// How many blocks of a kernel run at once, at most `slots`: with more, the last few would run alone.
template <class Kernel>
unsigned blocks_at_once(Kernel kernel, size_t shared, unsigned slots) {
  int device = 0, processors = 0, each = 0;
  const bool known = cudaGetDevice(&device) == cudaSuccess &&
                     cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess &&
                     slots > static_cast<unsigned>(processors) &&
                     cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, kThreads, shared) == cudaSuccess;
  return known ? std::clamp(static_cast<unsigned>(processors * each), 1u, slots) : slots;
}

template <RowDivergence kDivergence, bool kTeacher, int kLanes, class T>
void launch_groups(const LossBatch<T>& batch, const Layout& layout, unsigned slots, cudaStream_t stream,
                   const bool* left = nullptr) {
  const auto kernel = group_kernel<kDivergence, kTeacher, kLanes, T>;
  if (layout.shared > kSharedBytes)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kLargestSharedBytes));
  kernel<<<blocks_at_once(kernel, layout.shared, slots), kThreads, layout.shared, stream>>>(
      batch, layout.in_global > 0 ? batch.kept : nullptr, left, slots);
}

template <int kLanes>
void launch_single(const LossBatch<float>& batch, bool* left, unsigned slots, cudaStream_t stream) {
  const auto aligned = [](const float* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
  const auto in_quads = [&](const LossRows<float>& part) {
    return part.rows == 0 || (part.classes % 4 == 0 && aligned(part.logits) && aligned(part.gradient));
  };
  const auto kernel =
      in_quads(batch.inside) && in_quads(batch.outside) ? single_kernel<kLanes, true> : single_kernel<kLanes, false>;
  kernel<<<blocks_at_once(kernel, 0, slots), kThreads, 0, stream>>>(batch, left, slots);
  check_launch();
}

/// By groups of lanes. Float32 where it is enough takes a launch of its own, which few short rows do not pay for.
template <RowDivergence kDivergence, bool kTeacher, int kLanes, class T>
void launch_long(const LossBatch<T>& batch, const Layout& layout, unsigned slots, cudaStream_t stream) {
  bool* left = nullptr;
  if constexpr (kDivergence == RowDivergence::kForward && !kTeacher && std::is_same_v<T, float>) {
    if (kLanes == 32 || batch.inside.rows + batch.outside.rows >= kManyRows) {
      left = reinterpret_cast<bool*>(batch.kept + layout.in_global);
      launch_single<kLanes>(batch, left, slots, stream);
    }
  }
  launch_groups<kDivergence, kTeacher, kLanes>(batch, layout, slots, stream, left);
}

template <RowDivergence kDivergence, bool kTeacher, class T>
void launch_with(const LossBatch<T>& batch, cudaStream_t stream) {
  const int64_t rows = batch.inside.rows + batch.outside.rows;
  const int64_t classes = batch.inside.classes;
  const auto layout = layout_for(rows, classes);
  const unsigned slots = slots_for(rows, classes);
  if (layout.lanes == 1) {
    const auto kernel = lane_kernel<kDivergence, kTeacher, T>;
    const size_t shared = layout.shared + static_cast<size_t>(classes) * (kThreads + 1) * sizeof(T);
    const unsigned shift = 0xffffffffu / static_cast<unsigned>(classes) + 1;
    kernel<<<blocks_at_once(kernel, shared, slots), kThreads, shared, stream>>>(batch, shift, slots);
  } else if (layout.lanes == 16) {
    launch_long<kDivergence, kTeacher, 16>(batch, layout, slots, stream);
  } else {
    launch_long<kDivergence, kTeacher, 32>(batch, layout, slots, stream);
  }
}

template <RowDivergence kDivergence, class T>
void launch_for(const LossBatch<T>& batch, cudaStream_t stream) {
  if constexpr (kDivergence != RowDivergence::kNone)
    if (batch.inside.probabilities != nullptr) return launch_with<kDivergence, true>(batch, stream);
  launch_with<kDivergence, false>(batch, stream);
}

}  // namespace

template <class T>
void launch_losses(const LossBatch<T>& batch, void* on_stream) {
  const auto stream = static_cast<cudaStream_t>(on_stream);
  if (batch.inside.rows + batch.outside.rows == 0) return;
  switch (batch.inside.divergence) {
    case RowDivergence::kNone:
      launch_for<RowDivergence::kNone>(batch, stream);
      break;
    case RowDivergence::kForward:
      launch_for<RowDivergence::kForward>(batch, stream);
      break;
    case RowDivergence::kReverse:
      launch_for<RowDivergence::kReverse>(batch, stream);
      break;
  }
  check_launch();
}

int64_t loss_scratch(int64_t rows, int64_t classes) {
  const int64_t flags = (rows + 15) / 16;  // one byte per row
  return layout_for(rows, classes).in_global + flags;
}

template <class T>
void launch_loss_means(const LossMeans<T>& means, void* stream) {
  means_kernel<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(means, slots_for(means.rows, means.classes));
  check_launch();
}

template void launch_losses<float>(const LossBatch<float>&, void*);
template void launch_losses<double>(const LossBatch<double>&, void*);
template void launch_loss_means<float>(const LossMeans<float>&, void*);
template void launch_loss_means<double>(const LossMeans<double>&, void*);

}  // namespace priornet
