#include <priornet/report/colour_map.h>

#include <priornet/core/checks.h>

#include <cstdint>
#include <span>

namespace priornet {
namespace {

// Evenly spaced stops; colours between two are interpolated.
constexpr uint32_t kViridisStops[] = {0x440154, 0x481567, 0x482677, 0x453781, 0x404788, 0x39568c, 0x33638d,
                                      0x2d708e, 0x287d8e, 0x238a8d, 0x1f968b, 0x20a387, 0x29af7f, 0x3cbb75,
                                      0x55c667, 0x73d055, 0x95d840, 0xb8de29, 0xdce319, 0xfde725};
constexpr uint32_t kBluesStops[] = {0xf7fbff, 0xdeebf7, 0xc6dbef, 0x9ecae1, 0x6baed6,
                                    0x4292c6, 0x2171b5, 0x08519c, 0x08306b};
constexpr uint32_t kYlOrRdStops[] = {0xffffe5, 0xfff3b2, 0xfed976, 0xfeb24c, 0xfd8d3c,
                                     0xfc4e2a, 0xe31a1c, 0xbd0026, 0x800026};

std::span<const uint32_t> stops_of(ColourMap map) {
  switch (map) {
    case ColourMap::kBlues:
      return kBluesStops;
    case ColourMap::kYlOrRd:
      return kYlOrRdStops;
    case ColourMap::kViridis:
      break;
  }
  return kViridisStops;
}

torch::Tensor as_tensor(std::span<const uint32_t> stops) {
  auto table = torch::empty({static_cast<int64_t>(stops.size()), 3}, torch::kFloat64);
  auto value = table.accessor<double, 2>();
  for (size_t i = 0; i < stops.size(); ++i)
    for (int channel = 0; channel < 3; ++channel)
      value[static_cast<int64_t>(i)][channel] = (stops[i] >> (16 - 8 * channel)) & 0xff;
  return table;
}

}  // namespace

torch::Tensor colours(const torch::Tensor& values, ColourMap map, const ColourRange& range) {
  check_floating("colours", "values", values);
  check_range("colours", "the range's high end", range.high > range.low, "above its low end", range.high);
  const auto table = as_tensor(stops_of(map));
  const auto last = static_cast<double>(table.size(0) - 1);
  const auto share = (values.detach().to(torch::kCPU, torch::kFloat64) - range.low) / (range.high - range.low);
  const auto position = share.nan_to_num(0.0, 1.0, 0.0).clamp(0.0, 1.0) * last;
  const auto lower = position.floor().clamp_max(last - 1);
  const auto weight = (position - lower).unsqueeze(-1);
  const auto row = lower.to(torch::kInt64).flatten();
  auto shape = values.sizes().vec();
  shape.push_back(3);
  const auto below = table.index_select(0, row).view(shape);
  const auto above = table.index_select(0, row + 1).view(shape);
  return torch::lerp(below, above, weight.expand_as(below)).round().to(torch::kUInt8);
}

}  // namespace priornet
