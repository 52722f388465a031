#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/channel_statistics.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

// Of whole numbers, so that nothing is rounded however many pixels there are.
ChannelStatistics of_grey_levels(const torch::Tensor& counts) {
  const auto* count = counts.data_ptr<int64_t>();
  int64_t pixels = 0, sum = 0;
  ChannelStatistics statistics;
  for (int64_t level = 255; level >= 0; --level) {
    if (count[level] == 0) continue;
    if (pixels == 0) statistics.maximum = static_cast<double>(level);
    statistics.minimum = static_cast<double>(level);
    pixels += count[level];
    sum += level * count[level];
  }
  statistics.mean = static_cast<double>(sum) / static_cast<double>(pixels);
  double squares = 0;
  for (int64_t level = 0; level < 256; ++level) {
    const double distance = static_cast<double>(level) - statistics.mean;
    squares += distance * distance * static_cast<double>(count[level]);
  }
  statistics.standard_deviation = std::sqrt(squares / static_cast<double>(pixels));
  return statistics;
}

ChannelStatistics of_images(const torch::Tensor& channel) {
  constexpr int64_t kImages = 1024;  // at a time: their pixels are laid side by side
  auto counts = torch::zeros({256}, torch::kInt64);
  for (int64_t first = 0; first < channel.size(0); first += kImages) {
    const auto some = channel.narrow(0, first, std::min(kImages, channel.size(0) - first));
    counts += torch::bincount(some.flatten(), {}, 256);
  }
  return of_grey_levels(counts);
}

ChannelStatistics of_numbers(const torch::Tensor& column) {
  const auto values = column.to(torch::kFloat64);
  return {values.mean().item<double>(), values.std(false).item<double>(), values.min().item<double>(),
          values.max().item<double>()};
}

}  // namespace

std::vector<ChannelStatistics> channel_statistics(const Dataset& set) {
  if (set.size() == 0) throw DataError(fmt::format("{}: holds no rows", set.name));
  std::vector<ChannelStatistics> statistics;
  for (int64_t c = 0; c < set.inputs.size(1); ++c) {
    const auto channel = set.inputs.select(1, c);
    statistics.push_back(set.has_images() ? of_images(channel) : of_numbers(channel));
  }
  return statistics;
}

}  // namespace priornet
