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

template <class T>
struct UpdateOnCpu {
  const FlatUpdate<T>& update;

  template <class Rule>
  void operator()(const Rule& rule) const {
    using Update = typename Rule::template Update<T>;
    *update.norm = norm_of(update.gradients, update.size);
    const Update step(rule, row_of(update, (*update.counter)++, Rule::kCoefficients));
    const auto factor = static_cast<T>(clip_factor(*update.norm, update.clip));
    T* const p = update.values;
    const T* const g = update.gradients;
    T* const first = update.moments[0];
    T* const second = update.moments[1];
    parallel_rows(update.size, 1, [&](int64_t begin, int64_t end) {
      // Copies, of which the compiler knows that nothing written below changes them.
      const Update apply = step;
      const T scale = factor;
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) {
        T none = 0;
        if constexpr (Rule::kMoments.size() == 2)
          apply(p[i], g[i] * scale, first[i], second[i]);
        else
          apply(p[i], g[i] * scale, first[i], none);
      }
    });
  }
};

}  // namespace

template <class T>
void update_on_cpu(const FlatUpdate<T>& update, const RuleChoice& choice) {
  with_rule(choice, UpdateOnCpu<T>{update});
}

template void update_on_cpu<float>(const FlatUpdate<float>&, const RuleChoice&);
template void update_on_cpu<double>(const FlatUpdate<double>&, const RuleChoice&);

}  // namespace priornet
