#pragma once

#include <cmath>
#include <cstdint>

#include "uncertainty/core/device_code.h"

namespace priornet {

/// Derives seeds from seeds, also on a GPU: equal to derive_seed() (random.h) of the text that is added, piece by
/// piece.
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

struct RandomPair {
  double first, second;
};

/// A stream of random numbers that depends only on its seed and place, so that any thread can draw any row, any number
/// of times: Philox 4x32-10 (Salmon et al., 2011) with the place and a running number as its counter.
class RandomStream {
 public:
  /// `place` is below 2^44, and a stream gives at most 2^20 numbers.
  PRIORNET_DEVICE RandomStream(uint64_t seed, uint64_t row, uint64_t place)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        row_{static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32)},
        place_(place) {}

  /// In (0, 1), 53 bits.
  PRIORNET_DEVICE double uniform() { return to_unit(next().first); }

  /// Two at once, like the functions below.
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

// What core/rows.h runs for random.h: one item of work for every pair of neighbours in a row.

struct DrawPlaces {
  float* values;  ///< [rows, columns]
  int64_t columns;
  uint64_t seed;
  int64_t first_row;

  PRIORNET_DEVICE int64_t pairs() const { return (columns + 1) / 2; }

  /// `draw` gives two numbers from a stream.
  template <class Draw>
  PRIORNET_DEVICE void fill(int64_t pair, const Draw& draw) const {
    const int64_t row = pair / pairs();
    const int64_t within = pair % pairs();
    RandomStream stream(seed, static_cast<uint64_t>(first_row + row), static_cast<uint64_t>(within));
    const RandomPair drawn = draw(stream);
    float* at = values + row * columns + 2 * within;
    at[0] = static_cast<float>(drawn.first);
    if (2 * within + 1 < columns) at[1] = static_cast<float>(drawn.second);
  }
};

struct NormalWork {
  DrawPlaces places;
  PRIORNET_DEVICE void operator()(int64_t pair) const {
    places.fill(pair, [](RandomStream& stream) { return stream.normals(); });
  }
};

struct UniformWork {
  DrawPlaces places;
  PRIORNET_DEVICE void operator()(int64_t pair) const {
    places.fill(pair, [](RandomStream& stream) { return stream.uniforms(); });
  }
};

}  // namespace priornet
