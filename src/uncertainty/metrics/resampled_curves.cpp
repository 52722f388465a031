#include "uncertainty/metrics/resampled_curves.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace priornet {
namespace {

// SplitMix64: a counter put through a hash, so a stream can begin anywhere.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class RandomBits {
 public:
  RandomBits(uint64_t key, uint64_t stream) : state_(mixed(key + mixed(stream + 1))) {}
  uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15u); }

 private:
  uint64_t state_;
};

// A Poisson(1) weight is the number of these that 16 random bits reach: 65536 P(weight <= k), k = 0 ... 7.
std::array<uint16_t, 8> poisson_thresholds() {
  std::array<uint16_t, 8> thresholds{};
  double below = 0;
  double term = std::exp(-1.0);
  for (size_t k = 0; k < thresholds.size(); ++k) {
    below += term;
    thresholds[k] = static_cast<uint16_t>(std::lround(65536 * below));
    term /= static_cast<double>(k + 1);
  }
  return thresholds;
}

void fill_poisson(RandomBits random, std::span<uint8_t, Resampler::kBlock> weights) {
  static const auto thresholds = poisson_thresholds();
  std::array<uint16_t, Resampler::kBlock> bits;
  for (size_t i = 0; i < bits.size(); i += 4) {
    const auto four = random.next();
    for (size_t j = 0; j < 4; ++j) bits[i + j] = static_cast<uint16_t>(four >> (16 * j));
  }
  for (size_t i = 0; i < bits.size(); ++i) {
    uint16_t weight = 0;
    for (size_t k = 0; k < thresholds.size(); ++k) weight += bits[i] >= thresholds[k] ? 1 : 0;
    weights[i] = static_cast<uint8_t>(weight);
  }
}

// How often each of n is drawn in n draws with replacement. More than 255 times is practically impossible.
void draw(RandomBits random, std::vector<uint8_t>& counts) {
  std::fill(counts.begin(), counts.end(), uint8_t{0});
  const auto n = static_cast<uint64_t>(counts.size());
  for (uint64_t i = 0; i < n; ++i) ++counts[((random.next() >> 32) * n) >> 32];
}

// The sets that a replicate draws from.
uint64_t replicate_key(uint64_t seed, int64_t replicate) {
  return mixed(seed + mixed(static_cast<uint64_t>(replicate) + 0x632be59bd9b4e019u));
}

// Interpolates between order statistics by straight lines, like NumPy's default.
double quantile(const std::vector<double>& sorted, double probability) {
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - std::floor(position)) * (sorted[above] - sorted[below]);
}

}  // namespace

void draw_with_replacement(uint64_t seed, int64_t replicate, std::vector<uint8_t>& counts) {
  draw(RandomBits(replicate_key(seed, replicate), 0), counts);
}

Interval percentiles(std::vector<double>& replicates) {
  std::sort(replicates.begin(), replicates.end());
  return {quantile(replicates, 0.025), quantile(replicates, 0.975)};
}

Resampler::Resampler(const Ranking& ranking, uint64_t seed) : ranking_(ranking), seed_(seed) {
  const bool exact[2] = {ranking.positives() <= kLargestExact, ranking.negatives() <= kLargestExact};
  any_poisson_ = !exact[0] || !exact[1];
  const auto order = ranking.order();
  for (size_t i = 0; i < order.size(); ++i) {
    const int set = (order[i] & Ranking::kPositive) != 0 ? 0 : 1;
    if (exact[set]) positions_[set].push_back(static_cast<int64_t>(i));
  }
}

int64_t Resampler::blocks() const { return (static_cast<int64_t>(ranking_.order().size()) + kBlock - 1) / kBlock; }

std::span<const uint8_t> Resampler::order(int64_t block) const {
  const auto order = ranking_.order();
  const auto begin = static_cast<size_t>(block * kBlock);
  return order.subspan(begin, std::min<size_t>(kBlock, order.size() - begin));
}

Resampler::Replicate::Replicate(const Resampler& resampler, int64_t index)
    : resampler_(resampler), key_(replicate_key(resampler.seed_, index)), block_(kBlock) {
  for (uint64_t set = 0; set < 2; ++set) {
    counts_[set].resize(resampler.positions_[set].size());
    draw(RandomBits(key_, ~set), counts_[set]);
  }
}

const uint8_t* Resampler::Replicate::weights(int64_t block) {
  if (resampler_.any_poisson_)
    fill_poisson(RandomBits(key_, static_cast<uint64_t>(block)), std::span<uint8_t, kBlock>(block_));
  const auto begin = block * kBlock;
  for (int set = 0; set < 2; ++set) {
    const auto& positions = resampler_.positions_[set];
    auto position = std::lower_bound(positions.begin(), positions.end(), begin);
    for (; position != positions.end() && *position < begin + kBlock; ++position)
      block_[static_cast<size_t>(*position - begin)] = counts_[set][static_cast<size_t>(position - positions.begin())];
  }
  return block_.data();
}

WeightTotals Resampler::Replicate::totals() {
  WeightTotals totals{resampler_.ranking_.positives(), resampler_.ranking_.negatives()};
  if (!resampler_.any_poisson_) return totals;
  totals = {};
  for (int64_t block = 0; block < resampler_.blocks(); ++block) {
    const auto* drawn = weights(block);
    const auto order = resampler_.order(block);
    uint32_t positive = 0;
    uint32_t all = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      all += drawn[i];
      positive += drawn[i] * (order[i] & Ranking::kPositive);
    }
    totals.positive += positive;
    totals.negative += all - positive;
  }
  return totals;
}

}  // namespace priornet
