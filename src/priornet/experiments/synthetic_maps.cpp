#include <priornet/experiments/synthetic_maps.h>
#include <priornet/report/base64.h>
#include <priornet/report/short_number.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using MapJson = nlohmann::ordered_json;

constexpr int64_t kSide = 96;
constexpr int64_t kPoints = 240;

struct DrawnMap {
  const char* title;
  const char* measure;
  torch::Tensor (*values)(const SyntheticCase&);
};

constexpr std::array<DrawnMap, 6> kMaps = {{
    {"true posterior: entropy", "entropy", [](const SyntheticCase& entry) { return entry.posterior_entropy_map; }},
    {"DPN: entropy", "entropy", [](const SyntheticCase& entry) { return entry.dpn.entropy_map; }},
    {"DPN: differential entropy", "differential_entropy",
     [](const SyntheticCase& entry) { return entry.dpn.differential_entropy_map; }},
    {"DNN: entropy", "entropy", [](const SyntheticCase& entry) { return entry.dnn.entropy_map; }},
    {"DPN: expected entropy", "expected_entropy",
     [](const SyntheticCase& entry) { return entry.dpn.expected_entropy_map; }},
    {"DPN: mutual information", "mutual_information",
     [](const SyntheticCase& entry) { return entry.dpn.mutual_information_map; }},
}};

struct MapRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

/// Entropies from 0 to ln 3; the others over all maps of the measure but for the lowest and highest hundredth.
MapRange range_of(const SyntheticResult& result, std::string_view measure) {
  if (measure == "entropy" || measure == "expected_entropy") return {0.0, std::log(3.0)};
  MapRange range;
  for (const auto& entry : result.cases) {
    for (const auto& map : kMaps) {
      if (map.measure != measure) continue;
      const auto values = map.values(entry).to(torch::kCPU, torch::kFloat64).flatten();
      range.low = std::min(range.low, values.quantile(0.01).item<double>());
      range.high = std::max(range.high, values.quantile(0.99).item<double>());
    }
  }
  if (!(range.low < range.high)) range.high = range.low + 1;
  return range;
}

MapJson map_json(const DrawnMap& map, const SyntheticCase& entry, const MapRange& range) {
  const auto small = torch::adaptive_avg_pool2d(
      map.values(entry).to(torch::kCPU, torch::kFloat64).unsqueeze(0).unsqueeze(0), {kSide, kSide});
  const auto bytes =
      ((small - range.low) * (255.0 / (range.high - range.low))).round().clamp(0, 255).to(torch::kUInt8).contiguous();
  return {{"title", map.title},
          {"measure", map.measure},
          {"low", short_number(range.low, 5)},
          {"high", short_number(range.high, 5)},
          {"values", base64({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()})}};
}

MapJson points_of(const LabelledPoints& shown) {
  auto json = MapJson::array();
  for (int64_t i = 0; i < std::min(kPoints, shown.points.size(0)); ++i)
    json.push_back({short_number(shown.points[i][0].item<double>(), 3),
                    short_number(shown.points[i][1].item<double>(), 3), shown.labels[i].item<int64_t>()});
  return json;
}

}  // namespace

std::string maps_json(const SyntheticResult& result) {
  MapJson json = {
      {"seed", result.options.seed}, {"half_side", kHalfSide}, {"side", kSide}, {"cases", MapJson::array()}};
  for (const auto& entry : result.cases) {
    MapJson part = {{"sigma", entry.classes.sigma}, {"radius", 3 * entry.classes.sigma}, {"means", MapJson::array()}};
    const auto centres = means(entry.classes);
    for (int64_t c = 0; c < centres.size(0); ++c)
      part["means"].push_back({centres[c][0].item<double>(), centres[c][1].item<double>()});
    part["points"] = points_of(entry.shown);
    for (const auto& map : kMaps) part["maps"].push_back(map_json(map, entry, range_of(result, map.measure)));
    json["cases"].push_back(std::move(part));
  }
  return json.dump() + "\n";
}

}  // namespace priornet
