#include <priornet/core/seeds.h>

#include <ATen/CPUGeneratorImpl.h>
#include <priornet/core/seed_mix.h>

namespace priornet {

at::Generator make_generator(uint64_t seed) { return at::make_generator<at::CPUGeneratorImpl>(seed); }

uint64_t derive_seed(uint64_t seed, std::string_view purpose) {
  SeedMix mix(seed);
  for (const char character : purpose) mix.add(character);
  return mix.seed();
}

}  // namespace priornet
