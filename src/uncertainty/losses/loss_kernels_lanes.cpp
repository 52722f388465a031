// Built once for each instruction set, with PRIORNET_LANES doubles in a vector. It includes nothing that other files
// share as inline code: the linker might keep the copy made for instructions that this CPU does not have.
#include <memory>

#include "uncertainty/dirichlet/row_block.h"
#include "uncertainty/losses/loss_kernels.h"

namespace priornet {
namespace {

template <RowDivergence kDivergence, int kLanes, class T>
class BlockLoss {
 public:
  using Digits = typename DigitsOf<T>::Type;
  using Real = Lanes<kLanes>;
  using Block = RowBlock<kLanes, T>;

  explicit BlockLoss(const LossRows<T>& work) : work_(work), kept_(new KeptClass<Real>[work.classes]) {}

  void operator()(int64_t row, int count) const {
    const Block block(work_.logits + row * work_.classes, work_.classes, count);
    Real label = Real{} - 1.0;
    if (work_.labels != nullptr)
      for (int i = 0; i < count; ++i) label[i] = static_cast<double>(work_.labels[row + i]);
    if (work_.probabilities == nullptr)
      return run(row, count, block, label,
                 LabelTarget<Real>{work_.target.on, work_.target.off, work_.target.sum, label});
    const Block teacher(work_.probabilities + row * work_.classes, work_.classes, count);
    run(row, count, block, label, TeacherTarget<Digits, Real, Block>(teacher, work_.classes, work_.alpha0));
  }

 private:
  template <class Target>
  void run(int64_t row, int count, const Block& block, Real label, const Target& target) const {
    const auto extent = row_extent<Real>(block, work_.classes);
    const auto loss = is_wide(extent) ? loss_of<true>(row, count, block, label, target, extent)
                                      : loss_of<false>(row, count, block, label, target, extent);
    if (work_.divergences != nullptr) scatter<kLanes>(loss.divergence, work_.divergences + row, 1, count);
    if (work_.cross_entropies != nullptr) scatter<kLanes>(loss.cross_entropy, work_.cross_entropies + row, 1, count);
  }

  template <bool kWide, class Target>
  RowLoss<Real> loss_of(int64_t row, int count, const Block& block, Real label, const Target& target,
                        const RowExtent<Real>& extent) const {
    T* gradient = work_.gradient == nullptr ? nullptr : work_.gradient + row * work_.classes;
    const auto store = [&](int64_t c, Real value) {
      if (gradient != nullptr) scatter<kLanes>(value, gradient + c, work_.classes, count);
    };
    return loss_row<Digits, kDivergence, kWide>(block, work_.classes, extent, target, label, work_.weights, kept_.get(),
                                                store);
  }

  const LossRows<T>& work_;
  std::unique_ptr<KeptClass<Real>[]> kept_;
};

}  // namespace

template <int kLanes, class T>
void loss_rows_in_lanes(const LossRows<T>& work, int64_t begin, int64_t end) {
  switch (work.divergence) {
    case RowDivergence::kNone:
      return for_each_block<kLanes>(begin, end, BlockLoss<RowDivergence::kNone, kLanes, T>(work));
    case RowDivergence::kForward:
      return for_each_block<kLanes>(begin, end, BlockLoss<RowDivergence::kForward, kLanes, T>(work));
    case RowDivergence::kReverse:
      return for_each_block<kLanes>(begin, end, BlockLoss<RowDivergence::kReverse, kLanes, T>(work));
  }
}

template void loss_rows_in_lanes<PRIORNET_LANES, float>(const LossRows<float>&, int64_t, int64_t);
template void loss_rows_in_lanes<PRIORNET_LANES, double>(const LossRows<double>&, int64_t, int64_t);

}  // namespace priornet
