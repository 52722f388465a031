#include <priornet/core/seeds.h>

#include <ATen/CPUGeneratorImpl.h>

namespace priornet {
namespace {

// The finaliser of SplitMix64: neighbouring inputs give unrelated outputs.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

at::Generator make_generator(uint64_t seed) { return at::make_generator<at::CPUGeneratorImpl>(seed); }

uint64_t derive_seed(uint64_t seed, std::string_view purpose) {
  uint64_t state = mix(seed);
  for (const unsigned char character : purpose) state = mix(state ^ character);
  return state;
}

}  // namespace priornet
