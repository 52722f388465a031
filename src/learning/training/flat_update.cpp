#include "learning/training/flat_update.h"

#include <numeric>

#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

template <class T>
double norm_of(const T* values, int64_t size) {
  constexpr int64_t kPart = 16384;
  std::vector<double> parts(static_cast<size_t>((size + kPart - 1) / kPart));
  parallel_rows(static_cast<int64_t>(parts.size()), kPart, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      double sum = 0;
      const int64_t last = std::min(size, (part + 1) * kPart);
#pragma omp simd reduction(+ : sum)
      for (int64_t i = part * kPart; i < last; ++i)
        sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
      parts[static_cast<size_t>(part)] = sum;
    }
  });
  return std::sqrt(std::accumulate(parts.begin(), parts.end(), 0.0));
}

}  // namespace

template <class Rule>
void update_on_cpu(const FlatUpdate<typename Rule::Value>& update, const typename Rule::Constants& constants) {
  using T = typename Rule::Value;
  *update.norm = norm_of(update.gradients, update.size);
  const Rule rule(constants, row_of(update, (*update.counter)++, Rule::kCoefficients));
  const auto factor = static_cast<T>(clip_factor(*update.norm, update.clip));
  const auto decay = static_cast<T>(update.weight_decay);
  T* const p = update.values;
  const T* const g = update.gradients;
  T* const first = update.moments[0];
  T* const second = update.moments[1];
  parallel_rows(update.size, 1, [&](int64_t begin, int64_t end) {
    // Copies, of which the compiler knows that nothing written below changes them.
    const Rule apply = rule;
    const T scale = factor, weight = decay;
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      T none = 0;
      if constexpr (Rule::kMoments == 2)
        apply(p[i], g[i] * scale + p[i] * weight, first[i], second[i]);
      else
        apply(p[i], g[i] * scale + p[i] * weight, first[i], none);
    }
  });
}

template void update_on_cpu<NAdamRule<float>>(const FlatUpdate<float>&, const NAdamConstants&);
template void update_on_cpu<NAdamRule<double>>(const FlatUpdate<double>&, const NAdamConstants&);
template void update_on_cpu<SgdRule<float>>(const FlatUpdate<float>&, const SgdConstants&);
template void update_on_cpu<SgdRule<double>>(const FlatUpdate<double>&, const SgdConstants&);

}  // namespace priornet
