#pragma once

#include <priornet/core/device_code.h>

#include <cstdint>

namespace priornet {

/// Seeds out of seeds, also on a GPU: what derive_seed() (seeds.h) gives for the text that is added, piece by piece.
class SeedMix {
 public:
  PRIORNET_DEVICE explicit SeedMix(uint64_t seed) : state_(mix(seed)) {}

  PRIORNET_DEVICE SeedMix& add(char character) {
    state_ = mix(state_ ^ static_cast<unsigned char>(character));
    return *this;
  }
  PRIORNET_DEVICE SeedMix& add(const char* text) {
    for (; *text != 0; ++text) add(*text);
    return *this;
  }
  /// As decimal digits; at least 0.
  PRIORNET_DEVICE SeedMix& add_number(int64_t number) {
    int64_t power = 1;
    while (number / power >= 10) power *= 10;
    for (; power > 0; power /= 10) add(static_cast<char>('0' + number / power % 10));
    return *this;
  }

  PRIORNET_DEVICE uint64_t seed() const { return state_; }

 private:
  // The finaliser of SplitMix64: neighbouring inputs give unrelated outputs.
  PRIORNET_DEVICE static uint64_t mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
  }

  uint64_t state_;
};

}  // namespace priornet
