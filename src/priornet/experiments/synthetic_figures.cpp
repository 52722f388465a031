#include <priornet/experiments/synthetic_figures.h>

#include <fmt/format.h>
#include <priornet/core/seeds.h>
#include <priornet/dirichlet/sampling.h>
#include <priornet/report/panels.h>
#include <priornet/report/simplex.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

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
    // A hair outwards, or the circle would count as part of its own disc.
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

}  // namespace priornet
