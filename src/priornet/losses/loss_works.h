#pragma once

#include <priornet/dirichlet/scalar_row.h>
#include <priornet/losses/loss_kernels.h>

// The losses row by row, for a GPU; on the CPU they are computed in lanes.

namespace priornet {

template <class T>
struct LossWork {
  LossRows<T> tensors;
  KeptClass<double>* kept;  ///< [rows, classes], what a row keeps between its two passes

  PRIORNET_DEVICE void operator()(int64_t row) const {
    const double label = tensors.labels == nullptr ? -1.0 : static_cast<double>(tensors.labels[row]);
    if (tensors.probabilities == nullptr)
      return run(row, label, LabelTarget<double>{tensors.target.on, tensors.target.off, tensors.target.sum, label});
    const ScalarRow<T> teacher{tensors.probabilities + row * tensors.classes};
    run(row, label, TeacherTarget<Digits, double, ScalarRow<T>>(teacher, tensors.classes, tensors.alpha0));
  }

 private:
  using Digits = typename DigitsOf<T>::Type;

  template <class Target>
  PRIORNET_DEVICE void run(int64_t row, double label, const Target& target) const {
    switch (tensors.divergence) {
      case RowDivergence::kNone:
        return run<RowDivergence::kNone>(row, label, target);
      case RowDivergence::kForward:
        return run<RowDivergence::kForward>(row, label, target);
      case RowDivergence::kReverse:
        return run<RowDivergence::kReverse>(row, label, target);
    }
  }

  template <RowDivergence kDivergence, class Target>
  PRIORNET_DEVICE void run(int64_t row, double label, const Target& target) const {
    const ScalarRow<T> logits{tensors.logits + row * tensors.classes};
    T* gradient = tensors.gradient == nullptr ? nullptr : tensors.gradient + row * tensors.classes;
    const auto store = [&](int64_t c, double value) {
      if (gradient != nullptr) gradient[c] = saturate<T>(value);
    };
    // The wide path serves every row: what it saves, a GPU would lose to threads that part ways.
    const auto extent = row_extent<double>(logits, tensors.classes);
    const auto loss = loss_row<Digits, kDivergence, true>(logits, tensors.classes, extent, target, label,
                                                          tensors.weights, kept + row * tensors.classes, store);
    if (tensors.divergences != nullptr) tensors.divergences[row] = saturate<T>(loss.divergence);
    if (tensors.cross_entropies != nullptr) tensors.cross_entropies[row] = saturate<T>(loss.cross_entropy);
  }
};

}  // namespace priornet
