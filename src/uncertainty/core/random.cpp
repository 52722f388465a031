#include <priornet/uncertainty/random.h>

#include <ATen/CPUGeneratorImpl.h>

#include "uncertainty/core/random_stream.h"
#include "uncertainty/core/rows.h"

namespace priornet {

at::Generator make_generator(uint64_t seed) { return at::make_generator<at::CPUGeneratorImpl>(seed); }

uint64_t derive_seed(uint64_t seed, std::string_view purpose) {
  SeedMix mix(seed);
  for (const char character : purpose) mix.add(character);
  return mix.seed();
}

namespace {

template <class Work>
torch::Tensor drawn(int64_t rows, int64_t columns, const DrawOptions& options) {
  const auto values = torch::empty({rows, columns}, torch::TensorOptions(torch::kFloat32).device(options.device));
  const DrawPlaces places{values.data_ptr<float>(), columns, options.seed, options.first_row};
  constexpr int64_t kCost = 64;  // cost of a pair, relative to an element of a vectorised kernel
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
