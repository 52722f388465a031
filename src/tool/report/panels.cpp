#include "tool/report/panels.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <iterator>

#include "tool/report/figure.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

// In CSS pixels.
constexpr int kPanel = 290;     // side of a heat map
constexpr int kLeft = 78;       // row title and tick labels
constexpr int kBarGap = 10;     // heat map to colour bar
constexpr int kBar = 13;        // width of a colour bar
constexpr int kColumnGap = 84;  // colour bar to the next heat map: tick labels of both
constexpr int kRight = 50;
constexpr int kTop = 44;
constexpr int kRowGap = 66;
constexpr int kBottom = 30;
constexpr int kColumn = kPanel + kBarGap + kBar + kColumnGap;

/// Places panels and writes what gnuplot needs for each.
class Layout {
 public:
  Layout(int64_t rows, int64_t columns, double half_side) : half_side_(half_side) {
    figure_.width = kLeft + static_cast<int>(columns) * kColumn - kColumnGap + kRight;
    figure_.height = kTop + static_cast<int>(rows) * (kPanel + kRowGap) - kRowGap + kBottom;
    figure_.script =
        "set multiplot\nunset key\nset border 31 lw 0.8\n"
        "set title offset 0,-0.4\n";
  }

  void row_title(int64_t row, const std::string& title) {
    const double y = 1.0 - (top_of(row) + kPanel / 2.0) / figure_.height;
    figure_.script += fmt::format("set label 1 {} at screen {:.5f},{:.5f} center rotate by 90 font ',16'\n",
                                  gnuplot_string(title), 20.0 / figure_.width, y);
  }

  void panel(int64_t row, int64_t column, const Panel& panel) {
    const auto name = fmt::format("r{}c{}", row, column);
    const double left = kLeft + static_cast<double>(column) * kColumn;
    heat_map(name, {left, top_of(row), kPanel}, panel);
    figure_.script += "unset label 1\n";
    colour_bar(name, {left + kPanel + kBarGap, top_of(row), kBar}, panel.scale);
  }

  Figure take() {
    figure_.script += "unset multiplot\n";
    return std::move(figure_);
  }

 private:
  struct Box {
    double left, top, width;
  };

  static double top_of(int64_t row) { return kTop + static_cast<double>(row) * (kPanel + kRowGap); }

  void place(const Box& box) {
    figure_.script += fmt::format(
        "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\nset tmargin at screen {:.6f}\n"
        "set bmargin at screen {:.6f}\n",
        box.left / figure_.width, (box.left + box.width) / figure_.width, 1.0 - box.top / figure_.height,
        1.0 - (box.top + kPanel) / figure_.height);
  }

  void heat_map(const std::string& name, const Box& box, const Panel& panel) {
    const auto side = panel.values.size(0);
    const double cell = 2 * half_side_ / static_cast<double>(side);
    figure_.files.emplace_back(name + ".rgb", figure_bytes(colours(panel.values, panel.scale.map, panel.scale.range)));
    place(box);
    figure_.script += fmt::format(
        "set title {} noenhanced font ',15'\nset xrange [{}:{}]\nset yrange [{}:{}]\nset xtics 10 out scale 0.5 "
        "nomirror offset "
        "0,0.3\nset ytics 10 out scale 0.5 nomirror offset 0.4,0\n"
        "plot '{}.rgb' binary array=({},{}) format='%uchar' dx={} dy={} origin=({},{}) with rgbimage",
        gnuplot_string(panel.title), -half_side_, half_side_, -half_side_, half_side_, name, side, side, cell, cell,
        cell / 2 - half_side_, cell / 2 - half_side_);
    for (size_t i = 0; i < panel.clouds.size(); ++i) {
      const auto file = fmt::format("{}-{}.txt", name, i);
      figure_.files.emplace_back(file, figure_text(panel.clouds[i].points));
      figure_.script += fmt::format(", '{}' with points pt 7 ps 0.28 lc rgb '{}'", file, panel.clouds[i].colour);
    }
    if (panel.outline.defined()) {
      figure_.files.emplace_back(name + ".line", figure_text(panel.outline));
      figure_.script += fmt::format(", '{}.line' with lines lw 1.2 dt (6,4) lc rgb '{}'", name, panel.outline_colour);
    }
    figure_.script += "\n";
  }

  void colour_bar(const std::string& name, const Box& box, const ColourScale& scale) {
    constexpr int64_t kSteps = 256;
    const auto& [low, high] = scale.range;
    const double step = (high - low) / kSteps;
    const auto ramp = torch::linspace(low + step / 2, high - step / 2, kSteps, torch::kFloat64).unsqueeze(1);
    figure_.files.emplace_back(name + ".bar", figure_bytes(colours(ramp.expand({kSteps, 2}), scale.map, scale.range)));
    place(box);
    figure_.script += fmt::format(
        "set title {} noenhanced offset 1.2,-0.4 font ',13'\nunset xtics\nunset ytics\nset xrange [0:2]\nset yrange "
        "[{}:{}]\n"
        "set y2range [{}:{}]\nset y2tics {} out scale 0.5 nomirror offset -0.6,0\n"
        "plot '{}.bar' binary array=(2,{}) format='%uchar' dx=1 dy={} origin=(0.5,{}) with rgbimage\n"
        "unset y2tics\nset title offset 0,-0.4\n",
        gnuplot_string(scale.unit), low, high, low, high, scale.tick, name, kSteps, step, low + step / 2);
  }

  double half_side_;
  Figure figure_;
};

}  // namespace

Figure draw_panels(const std::vector<PanelRow>& rows, double half_side) {
  check_range("draw_panels", "the number of rows", !rows.empty(), "at least 1", 0);
  const auto columns = rows.front().panels.size();
  Layout layout(static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns), half_side);
  for (size_t r = 0; r < rows.size(); ++r) {
    check_range("draw_panels", "the number of panels of a row", rows[r].panels.size() == columns && columns > 0,
                fmt::format("{}", columns), static_cast<double>(rows[r].panels.size()));
    layout.row_title(static_cast<int64_t>(r), rows[r].title);
    for (size_t c = 0; c < columns; ++c) {
      const auto& panel = rows[r].panels[c];
      check_floating("draw_panels", "values", panel.values);
      check_rank("draw_panels", "values", panel.values, 2);
      check_range("draw_panels", "the second size of values", panel.values.size(0) == panel.values.size(1),
                  fmt::format("{}", panel.values.size(0)), static_cast<double>(panel.values.size(1)));
      layout.panel(static_cast<int64_t>(r), static_cast<int64_t>(c), panel);
    }
  }
  return layout.take();
}

torch::Tensor cell_centres(int64_t side, double half_side) {
  check_range("cell_centres", "side", side >= 1, "at least 1", static_cast<double>(side));
  const double cell = 2 * half_side / static_cast<double>(side);
  const auto axis = torch::arange(side, torch::kFloat64) * cell + (cell / 2 - half_side);
  const auto x = axis.unsqueeze(0).expand({side, side}), y = axis.unsqueeze(1).expand({side, side});
  return torch::stack({x.reshape({-1}), y.reshape({-1})}, 1);
}

}  // namespace priornet
