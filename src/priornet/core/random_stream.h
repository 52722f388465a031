#pragma once

#include <cmath>
#include <cstdint>

#include <priornet/core/device_code.h>

namespace priornet {

struct RandomPair {
  double first, second;
};

/// A stream of random numbers that is a function of its seed and place alone, so that any row can be drawn by any
/// thread, and again: Philox 4x32-10 (Salmon et al., 2011) with the place and a running number as its counter.
class RandomStream {
 public:
  /// `place` is below 2^44, and a stream gives at most 2^20 numbers.
  PRIORNET_DEVICE RandomStream(uint64_t seed, uint64_t row, uint64_t place)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        row_{static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32)},
        place_(place) {}

  /// In (0, 1), 53 bits.
  PRIORNET_DEVICE double uniform() { return to_unit(next().first); }

  /// Two at once, as the others that follow.
  PRIORNET_DEVICE RandomPair uniforms() {
    const Bits bits = next();
    return {to_unit(bits.first), to_unit(bits.second)};
  }

  /// Standard normal, by the method of Box and Muller.
  PRIORNET_DEVICE RandomPair normals() {
    const RandomPair draws = uniforms();
    const double radius = ::sqrt(-2 * ::log(draws.first));
    const double angle = 6.283185307179586 * draws.second;
    return {radius * ::cos(angle), radius * ::sin(angle)};
  }
  PRIORNET_DEVICE double normal() { return normals().first; }

 private:
  struct Bits {
    uint64_t first, second;
  };

  PRIORNET_DEVICE static double to_unit(uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

  PRIORNET_DEVICE Bits next() {
    uint32_t counter[4] = {row_[0], row_[1], static_cast<uint32_t>(place_), static_cast<uint32_t>(place_ >> 32)};
    counter[3] ^= ++drawn_ << 12;
    uint32_t key[2] = {key_[0], key_[1]};
    for (int round = 0; round < 10; ++round) {
      const uint64_t low = uint64_t{0xD2511F53} * counter[0];
      const uint64_t high = uint64_t{0xCD9E8D57} * counter[2];
      counter[0] = static_cast<uint32_t>(high >> 32) ^ counter[1] ^ key[0];
      counter[1] = static_cast<uint32_t>(high);
      counter[2] = static_cast<uint32_t>(low >> 32) ^ counter[3] ^ key[1];
      counter[3] = static_cast<uint32_t>(low);
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    return {uint64_t{counter[0]} << 32 | counter[1], uint64_t{counter[2]} << 32 | counter[3]};
  }

  uint32_t key_[2];
  uint32_t row_[2];
  uint64_t place_;
  uint32_t drawn_ = 0;
};

}  // namespace priornet
