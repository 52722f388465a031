#include "tool/report/simplex.h"

#include <fmt/format.h>
#include <priornet/uncertainty/dirichlet.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "tool/report/figure.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

// In CSS pixels.
constexpr int kSide = 250;   // of a triangle
constexpr int kMargin = 34;  // around a triangle, for the labels of its corners
constexpr int kTitle = 30;   // over a triangle
constexpr int kBarWidth = 13;
constexpr int kBarSpace = 78;  // the bar with its labels
constexpr int kPixels = 3;     // pixels of a density's image per CSS pixel
constexpr double kHeight = std::numbers::sqrt3 / 2;
constexpr auto kMap = ColourMap::kYlOrRd;

// Colours go by the cube root of the density: a flat Dirichlet (density 2 everywhere) stays visible beside a sharp one
// (density 100 and more), and the foot of a peak is not cut off.
const ColourRange kRootDensity{0.0, 5.0};

/// Red, green, blue and opacity [H, W, 4] of the triangle's bounding box; row 0 is the lowest.
torch::Tensor shade(const torch::Tensor& logits) {
  const auto width = int64_t{kSide} * kPixels;
  const auto height = static_cast<int64_t>(std::ceil(kHeight * static_cast<double>(width)));
  const double cell = 1.0 / static_cast<double>(width);
  const auto x = (torch::arange(width, torch::kFloat64) + 0.5) * cell;
  const auto y = (torch::arange(height, torch::kFloat64) + 0.5) * cell;
  const auto plane = torch::stack(
      {x.unsqueeze(0).expand({height, width}).reshape({-1}), y.unsqueeze(1).expand({height, width}).reshape({-1})}, 1);
  const auto mu = to_simplex(plane);
  // A pixel on an edge takes the density just inside it; its opacity is the share of it that lies inside.
  const auto inside = mu.clamp_min(0.5 * cell);
  const auto log_mu = (inside / inside.sum(1, true)).log();
  const auto density = log_density(logits.to(torch::kFloat64).reshape({1, 3}).expand_as(mu).contiguous(), log_mu);
  const auto edge_distance = std::get<0>(mu.min(1)) * kHeight / cell;
  const auto opacity = ((edge_distance + 0.5).clamp(0.0, 1.0) * 255).round().to(torch::kUInt8);
  return torch::cat({colours((density / 3).exp(), kMap, kRootDensity), opacity.unsqueeze(1)}, 1)
      .view({height, width, 4});
}

void place(Figure& figure, double left, double top, double width, double height) {
  figure.script += fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\nset tmargin at screen {:.6f}\n"
      "set bmargin at screen {:.6f}\n",
      left / figure.width, (left + width) / figure.width, 1.0 - top / figure.height,
      1.0 - (top + height) / figure.height);
}

void draw_panel(Figure& figure, size_t index, const SimplexPanel& panel) {
  const double left = static_cast<double>(index) * (kSide + 2 * kMargin) + kMargin;
  place(figure, left, kTitle + kMargin, kSide, kHeight * kSide);
  figure.script += fmt::format(
      "set label 1 {} at 0.5,{} center noenhanced font ',15'\nset label 2 'ω_1' at 0.5,{} center font ',15'\n"
      "set label 3 'ω_2' at -0.02,-0.07 center font ',15'\nset label 4 'ω_3' at 1.02,-0.07 center font ',15'\n"
      "set xrange [0:1]\nset yrange [0:{}]\nplot ",
      gnuplot_string(panel.title), kHeight + 42.0 / kSide, kHeight + 14.0 / kSide, kHeight);
  if (panel.logits.defined()) {
    const auto image = shade(panel.logits);
    const double cell = 1.0 / static_cast<double>(image.size(1));
    figure.files.emplace_back(fmt::format("{}.rgba", index), figure_bytes(image));
    figure.script +=
        fmt::format("'{}.rgba' binary array=({},{}) format='%uchar' dx={} dy={} origin=({},{}) with rgbalpha, ", index,
                    image.size(1), image.size(0), cell, cell, cell / 2, cell / 2);
  }
  figure.script += "'triangle' with lines lw 1.6 lc black";
  if (panel.points.defined()) {
    const auto file = fmt::format("{}.txt", index);
    figure.files.emplace_back(file, figure_text(to_plane(panel.points)));
    figure.script += fmt::format(", '{}' with points pt 7 ps 0.6 lc rgb '#d6293e'", file);
  }
  figure.script += "\nunset label\n";
}

void draw_bar(Figure& figure, double left) {
  constexpr int64_t kSteps = 256;
  const auto& [low, high] = kRootDensity;
  const double step = (high - low) / kSteps;
  const auto ramp = torch::linspace(low + step / 2, high - step / 2, kSteps, torch::kFloat64).unsqueeze(1);
  figure.files.emplace_back("bar", figure_bytes(colours(ramp.expand({kSteps, 2}), kMap, kRootDensity)));
  place(figure, left, kTitle + kMargin, kBarWidth, kHeight * kSide);
  figure.script += fmt::format(
      "set border 31 lw 0.8\nset xrange [0:2]\nset yrange [{}:{}]\nset y2range [{}:{}]\n"
      "set y2tics ('0' 0, '1' 1, '10' 10**(1/3.0), '50' 50**(1/3.0), '125' 5) out scale 0.5 nomirror offset -0.6,0\n"
      "set label 1 'p(μ)' at graph 0.5,1.07 center\n"
      "plot 'bar' binary array=(2,{}) format='%uchar' dx=1 dy={} origin=(0.5,{}) with rgbimage\n",
      low, high, low, high, kSteps, step, low + step / 2);
}

}  // namespace

torch::Tensor to_plane(const torch::Tensor& categoricals) {
  check_floating("to_plane", "categoricals", categoricals);
  check_rank("to_plane", "categoricals", categoricals, 2);
  check_range("to_plane", "the second size of categoricals", categoricals.size(1) == 3, "3",
              static_cast<double>(categoricals.size(1)));
  const auto first = categoricals.select(1, 0), third = categoricals.select(1, 2);
  return torch::stack({0.5 * first + third, kHeight * first}, 1);
}

torch::Tensor to_simplex(const torch::Tensor& points) {
  check_floating("to_simplex", "points", points);
  check_rank("to_simplex", "points", points, 2);
  check_range("to_simplex", "the second size of points", points.size(1) == 2, "2", static_cast<double>(points.size(1)));
  const auto first = points.select(1, 1) / kHeight;
  const auto third = points.select(1, 0) - 0.5 * first;
  return torch::stack({first, 1.0 - first - third, third}, 1);
}

Figure draw_simplexes(const std::vector<SimplexPanel>& panels) {
  check_range("draw_simplexes", "the number of panels", !panels.empty(), "at least 1", 0);
  const bool shaded = std::any_of(panels.begin(), panels.end(), [](const auto& p) { return p.logits.defined(); });
  const int panels_width = static_cast<int>(panels.size()) * (kSide + 2 * kMargin);
  Figure figure;
  figure.width = panels_width + (shaded ? kBarSpace : 0);
  figure.height = kTitle + 2 * kMargin + static_cast<int>(kHeight * kSide);
  figure.files.emplace_back("triangle", fmt::format("0 0\n1 0\n0.5 {}\n0 0\n1 0\n", kHeight));
  figure.script = "set multiplot\nunset key\nunset border\nunset xtics\nunset ytics\n";
  for (size_t i = 0; i < panels.size(); ++i) draw_panel(figure, i, panels[i]);
  if (shaded) draw_bar(figure, panels_width + 6);
  figure.script += "unset multiplot\n";
  return figure;
}

}  // namespace priornet
