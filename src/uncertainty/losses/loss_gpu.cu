#include "uncertainty/losses/loss_gpu.h"

#include <algorithm>

#include "uncertainty/core/rows.cuh"
#include "uncertainty/dirichlet/logit_row.h"
#include "uncertainty/dirichlet/warp_lanes.cuh"

namespace priornet {
namespace {

constexpr int kThreads = 128;
constexpr int kLanes = 16;  // that share a row
constexpr int kGroups = kThreads / kLanes;

unsigned blocks_for(int64_t rows) {
  return static_cast<unsigned>(std::min((rows + kGroups - 1) / kGroups, kLossBlocks));
}

/// One row of a batch, by the lanes of a group. The lanes of a warp stay together where they exchange values, which is
/// nowhere that depends on the row.
template <RowDivergence kDivergence, bool kTeacher, class T>
class GroupLoss {
 public:
  using Digits = typename DigitsOf<T>::Type;

  __device__ GroupLoss(const LossBatch<T>& batch, int64_t row, int lane) : lane_(lane) {
    inside_ = row < batch.inside.rows;
    part_ = inside_ ? &batch.inside : &batch.outside;
    row_ = inside_ ? row : row - batch.inside.rows;
    label_ = part_->labels == nullptr ? -1.0 : static_cast<double>(part_->labels[row_]);
    kept_ = batch.kept + row * part_->classes;
    const ScalarRow<T> logits{part_->logits + row_ * part_->classes};
    const auto extent = group_extent<kLanes>(row_extent<double>(logits, part_->classes, lane, kLanes));
    // The wide path serves every row: what it saves, a GPU would lose to threads that part ways.
    const auto share = with_target([&](const auto& target) {
      return loss_sums<Digits, kDivergence, true>(logits, part_->classes, extent, target, label_, kept_, lane, kLanes);
    });
    LossSums<double> sums;
    sums.scale = share.scale;
    sums.exp = group_sum<kLanes>(share.exp);
    sums.mean = group_sum<kLanes>(share.mean);
    sums.rest = group_sum<kLanes>(share.rest);
    sums.t_label = group_sum<kLanes>(share.t_label);
    sums.product = LogProduct<double>::of_logarithm(group_sum<kLanes>(share.product.logarithm()));
    totals_ =
        with_target([&](const auto& target) { return loss_totals<Digits, kDivergence, true>(sums, extent, target); });
  }

  __device__ bool inside() const { return inside_; }
  __device__ bool has_label() const { return part_->labels != nullptr; }
  __device__ T divergence() const { return saturate<T>(totals_.loss.divergence); }
  __device__ T cross_entropy() const { return saturate<T>(totals_.loss.cross_entropy); }

  __device__ void store(double steepest) const {
    if (part_->gradient != nullptr) {
      T* gradient = part_->gradient + row_ * part_->classes;
      const auto held = [&](int64_t c, double value) {
        gradient[c] = saturate<T>(value > steepest ? steepest : (value < -steepest ? -steepest : value));
      };
      loss_gradient<kDivergence>(totals_, part_->classes, label_, part_->weights, kept_, held, lane_, kLanes);
    }
    if (lane_ != 0) return;
    if (part_->divergences != nullptr) part_->divergences[row_] = divergence();
    if (part_->cross_entropies != nullptr) part_->cross_entropies[row_] = cross_entropy();
  }

 private:
  template <class Body>
  __device__ auto with_target(const Body& body) const {
    if constexpr (kTeacher) {
      if (inside_) {
        const ScalarRow<T> teacher{part_->probabilities + row_ * part_->classes};
        return body(TeacherTarget<Digits, double, ScalarRow<T>>(teacher, part_->classes, part_->alpha0));
      }
    }
    return body(LabelTarget<double>{part_->target.on, part_->target.off, part_->target.sum, label_});
  }

  int lane_;
  bool inside_;
  const LossRows<T>* part_;
  int64_t row_;
  double label_;
  KeptClass<double>* kept_;
  LossTotals<double> totals_;
};

template <RowDivergence kDivergence, bool kTeacher, class T>
__global__ void __launch_bounds__(kThreads) loss_kernel(const __grid_constant__ LossBatch<T> batch) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int64_t rows = batch.inside.rows + batch.outside.rows;
  double inside = 0, outside = 0, cross_entropy = 0;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * kGroups; base < rows;
       base += static_cast<int64_t>(gridDim.x) * kGroups) {
    // A group without a row repeats the last, for the sake of its warp.
    const bool has_row = base + group < rows;
    const GroupLoss<kDivergence, kTeacher, T> loss(batch, has_row ? base + group : rows - 1, lane);
    if (!has_row) continue;
    loss.store(batch.steepest);
    const double divergence = static_cast<double>(loss.divergence());
    inside += loss.inside() ? divergence : 0.0;
    outside += loss.inside() ? 0.0 : divergence;
    if (loss.has_label()) cross_entropy += static_cast<double>(loss.cross_entropy());
  }
  if (batch.partial_sums == nullptr) return;
  __shared__ double of_groups[kGroups][kLossSums];
  if (lane == 0) {
    of_groups[group][kInsideSum] = inside;
    of_groups[group][kOutsideSum] = outside;
    of_groups[group][kCrossEntropySum] = cross_entropy;
  }
  __syncthreads();
  if (threadIdx.x >= kLossSums) return;
  double sum = 0;
  for (int g = 0; g < kGroups; ++g) sum += of_groups[g][threadIdx.x];
  batch.partial_sums[blockIdx.x * kLossSums + threadIdx.x] = sum;
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

template <RowDivergence kDivergence, class T>
void launch_with(const LossBatch<T>& batch, unsigned blocks, cudaStream_t stream) {
  if constexpr (kDivergence != RowDivergence::kNone)
    if (batch.inside.probabilities != nullptr)
      return loss_kernel<kDivergence, true><<<blocks, kThreads, 0, stream>>>(batch);
  loss_kernel<kDivergence, false><<<blocks, kThreads, 0, stream>>>(batch);
}

}  // namespace

template <class T>
void launch_losses(const LossBatch<T>& batch, void* on_stream) {
  const auto stream = static_cast<cudaStream_t>(on_stream);
  const unsigned blocks = blocks_for(batch.inside.rows + batch.outside.rows);
  if (blocks == 0) return;
  switch (batch.inside.divergence) {
    case RowDivergence::kNone:
      launch_with<RowDivergence::kNone>(batch, blocks, stream);
      break;
    case RowDivergence::kForward:
      launch_with<RowDivergence::kForward>(batch, blocks, stream);
      break;
    case RowDivergence::kReverse:
      launch_with<RowDivergence::kReverse>(batch, blocks, stream);
      break;
  }
  check_launch();
}

template <class T>
void launch_loss_means(const LossMeans<T>& means, void* stream) {
  means_kernel<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(means, blocks_for(means.rows));
  check_launch();
}

template void launch_losses<float>(const LossBatch<float>&, void*);
template void launch_losses<double>(const LossBatch<double>&, void*);
template void launch_loss_means<float>(const LossMeans<float>&, void*);
template void launch_loss_means<double>(const LossMeans<double>&, void*);

}  // namespace priornet
