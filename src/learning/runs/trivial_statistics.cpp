#include <priornet/learning/trivial_statistics.h>

#include <fmt/format.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

constexpr std::array kNames = {"mean brightness",   "variance",       "edge energy", "high-frequency energy",
                               "border brightness", "extreme pixels", "saturation"};
constexpr size_t kWithoutColour = kNames.size() - 1;

using Statistics = std::array<double, kNames.size()>;

int64_t squared(int32_t value) { return int64_t{value} * value; }

double ratio(int64_t sum, int64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

// One image at a time. The grey image is the sum of the channels: whole numbers, so that sums are exact.
class ImageStatistics {
 public:
  explicit ImageStatistics(c10::IntArrayRef sizes)
      : channels_(sizes[1]), height_(sizes[2]), width_(sizes[3]), grey_(static_cast<size_t>(height_ * width_)) {}

  Statistics operator()(const uint8_t* image) {
    const int64_t pixels = height_ * width_;
    std::fill(grey_.begin(), grey_.end(), 0);
    int64_t extremes = 0;
    for (int64_t c = 0; c < channels_; ++c) {
      for (int64_t i = 0; i < pixels; ++i) {
        const uint8_t value = image[c * pixels + i];
        grey_[i] += value;
        extremes += static_cast<int64_t>(value == 0) + static_cast<int64_t>(value == 255);
      }
    }
    const double scale = 255.0 * static_cast<double>(channels_);
    const double variance = grey_variance();
    // The Laplacian of white noise has 4^2 + 4 times the variance of the noise.
    const double fine = variance == 0 ? 0 : laplacian_energy() / (20 * variance);
    return {ratio(grey_sum(), pixels) / scale,
            variance / (scale * scale),
            edge_energy() / (scale * scale),
            fine,
            border_mean() / scale,
            ratio(extremes, channels_ * pixels),
            saturation(image) / 255.0};
  }

 private:
  int64_t grey_sum() const {
    int64_t sum = 0;
    for (const int32_t y : grey_) sum += y;
    return sum;
  }

  double grey_variance() const {
    const auto pixels = static_cast<double>(grey_.size());
    int64_t squares = 0;
    for (const int32_t y : grey_) squares += squared(y);
    // Both terms round the same whole number if the image is flat, so its variance is exactly 0.
    const auto sum = static_cast<double>(grey_sum());
    return (static_cast<double>(squares) * pixels - sum * sum) / (pixels * pixels);
  }

  double edge_energy() const {
    int64_t sum = 0;
    for (int64_t row = 0; row < height_; ++row) {
      const int32_t* y = grey_.data() + row * width_;
      for (int64_t x = 0; x + 1 < width_; ++x) sum += squared(y[x + 1] - y[x]);
      if (row + 1 == height_) break;
      for (int64_t x = 0; x < width_; ++x) sum += squared(y[x + width_] - y[x]);
    }
    return ratio(sum, height_ * (width_ - 1) + (height_ - 1) * width_);
  }

  double laplacian_energy() const {
    if (height_ < 3 || width_ < 3) return 0;
    int64_t sum = 0;
    for (int64_t row = 1; row + 1 < height_; ++row) {
      const int32_t* y = grey_.data() + row * width_;
      for (int64_t x = 1; x + 1 < width_; ++x)
        sum += squared(4 * y[x] - y[x - 1] - y[x + 1] - y[x - width_] - y[x + width_]);
    }
    return ratio(sum, (height_ - 2) * (width_ - 2));
  }

  double border_mean() const {
    int64_t sum = 0;
    int64_t count = 0;
    for (int64_t row = 0; row < height_; ++row) {
      const bool whole = row == 0 || row == height_ - 1;
      for (int64_t x = 0; x < width_; x += whole || width_ == 1 ? 1 : width_ - 1, ++count)
        sum += grey_[row * width_ + x];
    }
    return ratio(sum, count);
  }

  double saturation(const uint8_t* image) const {
    if (channels_ == 1) return 0;
    const int64_t pixels = height_ * width_;
    int64_t sum = 0;
    for (int64_t i = 0; i < pixels; ++i) {
      uint8_t low = image[i];
      uint8_t high = image[i];
      for (int64_t c = 1; c < channels_; ++c) {
        low = std::min(low, image[c * pixels + i]);
        high = std::max(high, image[c * pixels + i]);
      }
      sum += high - low;
    }
    return ratio(sum, pixels);
  }

  int64_t channels_;
  int64_t height_;
  int64_t width_;
  std::vector<int32_t> grey_;
};

}  // namespace

std::vector<NamedTensor> trivial_statistics(const torch::Tensor& images) {
  if (images.scalar_type() != torch::kUInt8 || images.dim() != 4)
    throw ArgumentError(fmt::format("trivial_statistics: images should be uint8 [N, C, H, W], found {} of rank {}",
                                    c10::toString(images.scalar_type()), images.dim()));
  const int64_t size = images.size(1) * images.size(2) * images.size(3);
  if (size == 0) throw ArgumentError("trivial_statistics: images should have pixels, found none");
  const auto bytes = images.cpu().contiguous();
  std::vector<NamedTensor> statistics;
  for (size_t s = 0; s < (images.size(1) > 1 ? kNames.size() : kWithoutColour); ++s)
    statistics.push_back({kNames[s], torch::empty({images.size(0)}, torch::kFloat64)});
  std::vector<double*> to;
  for (auto& statistic : statistics) to.push_back(statistic.values.data_ptr<double>());
  const auto* from = bytes.data_ptr<uint8_t>();
  parallel_rows(images.size(0), size, [&](int64_t begin, int64_t end) {
    ImageStatistics of(bytes.sizes());
    for (int64_t row = begin; row < end; ++row) {
      const auto values = of(from + row * size);
      for (size_t s = 0; s < to.size(); ++s) to[s][row] = values[s];
    }
  });
  return statistics;
}

std::vector<NamedTensor> inverted_statistics(const std::vector<NamedTensor>& statistics) {
  auto inverted = statistics;
  for (auto& [name, values] : inverted)
    if (name == "mean brightness" || name == "border brightness") values = 1 - values;
  return inverted;
}

namespace {

torch::Tensor prepared(const torch::Tensor& values) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  return torch::where(values.isnan(), torch::full_like(values, kLowest), values).contiguous();
}

StatisticAuroc of(const NamedTensor& in_statistic, const NamedTensor& out_statistic) {
  const auto in = prepared(in_statistic.values);
  const auto out = prepared(out_statistic.values);
  const double for_out = auroc(Ranking({.positive = span_of(out), .negative = span_of(in)}));
  return {in_statistic.name, std::max(for_out, 1 - for_out), for_out >= 0.5, in.median().item<double>(),
          out.median().item<double>()};
}

}  // namespace

std::vector<StatisticAuroc> statistic_aurocs(const std::vector<NamedTensor>& in, const std::vector<NamedTensor>& out) {
  if (in.size() != out.size())
    throw ArgumentError(fmt::format("statistic_aurocs: {} statistics of IN but {} of OUT", in.size(), out.size()));
  std::vector<StatisticAuroc> aurocs;
  for (size_t s = 0; s < in.size(); ++s) {
    if (in[s].name != out[s].name)
      throw ArgumentError(
          fmt::format("statistic_aurocs: {} of IN cannot be compared with {} of OUT", in[s].name, out[s].name));
    aurocs.push_back(of(in[s], out[s]));
  }
  return aurocs;
}

const StatisticAuroc& strongest(const std::vector<StatisticAuroc>& statistics) {
  if (statistics.empty()) throw ArgumentError("strongest: there are no statistics");
  return *std::max_element(statistics.begin(), statistics.end(),
                           [](const auto& a, const auto& b) { return a.auroc < b.auroc; });
}

std::vector<NamedTensor> feature_columns(const Dataset& set, const std::vector<std::string>& names) {
  std::vector<NamedTensor> columns;
  for (int64_t i = 0; i < set.inputs.size(1); ++i)
    columns.push_back({names.empty() ? fmt::format("feature {}", i) : names[i],
                       set.inputs.select(1, i).to(torch::kFloat64).contiguous()});
  return columns;
}

std::vector<NamedTensor> input_statistics(const Dataset& set) {
  return set.has_images() ? trivial_statistics(set.inputs) : feature_columns(set, set.feature_names);
}

}  // namespace priornet
