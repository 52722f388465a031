#include "tool/experiments/synthetic_figures.h"

#include <fmt/format.h>
#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "learning/base/json_text.h"
#include "tool/report/figure.h"
#include "tool/report/page.h"
#include "tool/report/table.h"

namespace priornet {
namespace {

constexpr std::array<const char*, 3> kClassColours = {"#e8590c", "#2b8a3e", "#c2255c"};

ColourScale entropy_scale(ColourMap map) { return {map, {0.0, std::log(3.0)}, 0.25, "nats"}; }

/// Up to the flat Dirichlet's -ln 2, down to a low quantile, which a few very sharp cells do not move.
ColourScale differential_entropy_scale(const torch::Tensor& map) {
  const double low = std::floor(map.flatten().quantile(0.01).item<double>());
  return {ColourMap::kViridis, {std::min(low, -2.0), -std::numbers::ln2}, 1.0, "nats"};
}

/// One scale for every row: mutual information is a small part of the entropy, and shows on a scale of its own.
ColourScale mutual_information_scale(const SyntheticResult& result) {
  double high = 0.1;
  for (const auto& entry : result.cases)
    high = std::max(high, entry.dpn.mutual_information_map.flatten().quantile(0.99).item<double>());
  return {ColourMap::kViridis, {0.0, std::ceil(10 * high) / 10}, 0.1, "nats"};
}

/// The edge of the data region: each disc's circle where no other disc covers it.
torch::Tensor region_outline(const GaussianClasses& classes) {
  constexpr int64_t kSteps = 720;
  const auto angle = torch::linspace(0.0, 2 * std::numbers::pi, kSteps, torch::kFloat64);
  const auto circle = 3.0 * classes.sigma * torch::stack({angle.cos(), angle.sin()}, 1);
  const auto gap = torch::full({1, 2}, std::numeric_limits<double>::quiet_NaN(), torch::kFloat64);
  std::vector<torch::Tensor> parts;
  for (int64_t c = 0; c < GaussianClasses::kClasses; ++c) {
    const auto edge = circle + means(classes)[c];
    // Slightly outwards, or the circle would count as part of its own disc.
    const auto covered = in_data_region(classes, edge + 1e-6 * circle).unsqueeze(1);
    parts.push_back(edge.masked_fill(covered, std::numeric_limits<double>::quiet_NaN()));
    parts.push_back(gap);
  }
  return torch::cat(parts);
}

std::vector<PointCloud> clouds_of(const LabelledPoints& data) {
  std::vector<PointCloud> clouds;
  for (size_t c = 0; c < kClassColours.size(); ++c)
    clouds.push_back({data.points.index({data.labels == static_cast<int64_t>(c)}), kClassColours[c]});
  return clouds;
}

std::string letter(size_t& next) { return fmt::format("({})", static_cast<char>('a' + next++)); }

std::string row_title(const SyntheticCase& entry) { return fmt::format("σ = {:g}", entry.classes.sigma); }

torch::Tensor concentrations(double a, double b, double c) { return torch::tensor({a, b, c}, torch::kFloat64).log(); }

}  // namespace

Figure draw_figure3(const SyntheticResult& result) {
  std::vector<PanelRow> rows;
  size_t next = 0;
  for (const auto& entry : result.cases) {
    const auto outline = region_outline(entry.classes);
    rows.push_back(
        {row_title(entry),
         {{letter(next) + " True posterior entropy", entry.posterior_entropy_map, entropy_scale(ColourMap::kBlues),
           clouds_of(entry.shown), outline, "#495057"},
          {letter(next) + " DPN: entropy", entry.dpn.entropy_map, entropy_scale(ColourMap::kViridis), {}, outline},
          {letter(next) + " DPN: differential entropy",
           entry.dpn.differential_entropy_map,
           differential_entropy_scale(entry.dpn.differential_entropy_map),
           {},
           outline}}});
  }
  return draw_panels(rows, kHalfSide);
}

Figure draw_comparison(const SyntheticResult& result) {
  const auto scale = entropy_scale(ColourMap::kViridis);
  const auto information_scale = mutual_information_scale(result);
  std::vector<PanelRow> rows;
  size_t next = 0;
  for (const auto& entry : result.cases) {
    const auto outline = region_outline(entry.classes);
    rows.push_back({row_title(entry),
                    {{letter(next) + " DNN: entropy", entry.dnn.entropy_map, scale, {}, outline},
                     {letter(next) + " DPN: expected entropy", entry.dpn.expected_entropy_map, scale, {}, outline},
                     {letter(next) + " DPN: mutual information",
                      entry.dpn.mutual_information_map,
                      information_scale,
                      {},
                      outline}}});
  }
  return draw_panels(rows, kHalfSide);
}

Figure draw_figure1(uint64_t seed) {
  const auto logits = concentrations(9, 5, 4);
  const auto members = sample(logits.unsqueeze(0), {.samples = 40, .seed = derive_seed(seed, "figure 1")}).select(1, 0);
  return draw_simplexes({{"(a) Ensemble", {}, members}, {"(b) Distribution", logits, {}}});
}

Figure draw_figure2() {
  return draw_simplexes({{"(a) Confident prediction", concentrations(24, 2, 2), {}},
                         {"(b) High data uncertainty", concentrations(30, 30, 30), {}},
                         {"(c) Out-of-distribution", concentrations(1, 1, 1), {}}});
}

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

/// Entropies from 0 to ln 3; the others over all maps of the measure except for the lowest and highest hundredth.
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
  return json_text(json) + "\n";
}

}  // namespace priornet
