#include <priornet/core/random_draws.h>

#include <priornet/core/random_works.h>
#include <priornet/core/rows.h>

namespace priornet {
namespace {

template <class Work>
torch::Tensor drawn(int64_t rows, int64_t columns, const DrawOptions& options) {
  const auto values = torch::empty({rows, columns}, torch::TensorOptions(torch::kFloat32).device(options.device));
  const DrawPlaces places{values.data_ptr<float>(), columns, options.seed, options.first_row};
  constexpr int64_t kCost = 64;  // of a pair, next to an element of a vectorised kernel
  for_each_row(Work{places}, rows * places.pairs(), kCost, is_on_cuda("draws", values));
  return values;
}

}  // namespace

torch::Tensor normal_draws(int64_t rows, int64_t columns, const DrawOptions& options) {
  return drawn<NormalWork>(rows, columns, options);
}

torch::Tensor uniform_draws(int64_t rows, int64_t columns, const DrawOptions& options) {
  return drawn<UniformWork>(rows, columns, options);
}

}  // namespace priornet
