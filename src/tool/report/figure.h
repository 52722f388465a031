#pragma once

#include <torch/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace priornet {

/// How numbers become colours; each runs evenly in lightness from its lowest value to its highest.
enum class ColourMap {
  kViridis,  ///< dark violet to yellow (van der Walt and Smith)
  kBlues,    ///< white to navy (ColorBrewer)
  kYlOrRd,   ///< pale yellow to dark red (ColorBrewer)
};

struct ColourRange {
  double low = 0.0;
  double high = 1.0;
};

/// Values of any shape [...] to uint8 [..., 3], red green blue. Values beyond the range get the colour of the nearer
/// end; NaN gets that of `low`.
torch::Tensor colours(const torch::Tensor& values, ColourMap map, const ColourRange& range);

// gnuplot draws the pictures; it is looked up on the PATH when one is needed.

/// A picture as a gnuplot script and the data files it names, by bare file name. The script holds everything but the
/// terminal and the output, so that one description gives every format. Its font sizes are CSS pixels.
struct Figure {
  int width = 800;  ///< in CSS pixels
  int height = 600;
  std::string script;
  std::vector<std::pair<std::string, std::string>> files;  ///< name, bytes
};

enum class FigureFormat {
  kSvg,  ///< self-contained, on white, text as text
  kPng,  ///< two pixels to the CSS pixel, on white
};

/// Whether gnuplot is installed; without it render() throws.
bool can_render();

/// The remark for users without gnuplot.
constexpr std::string_view kNoGnuplot = "figures need gnuplot: apt install gnuplot-nox";

/// The bytes of the picture. Throws DataError if gnuplot is missing or rejects the script.
std::string render(const Figure& figure, FigureFormat format);

/// A gnuplot string literal, single-quoted: nothing in it is special to gnuplot.
std::string gnuplot_string(std::string_view text);

// A grid of square heat maps over the same square of the plane, each with its colour bar.

struct ColourScale {
  ColourMap map = ColourMap::kViridis;
  ColourRange range;
  double tick = 0.25;  ///< distance of the ticks on the bar
  std::string unit;    ///< written over the bar
};

/// Points drawn over a heat map.
struct PointCloud {
  torch::Tensor points;  ///< [N, 2]
  std::string colour;    ///< "#rrggbb"
};

struct Panel {
  std::string title;
  torch::Tensor values;  ///< [S, S], values at the centres of S x S cells of the square; row 0 is the lowest
  ColourScale scale;
  std::vector<PointCloud> clouds;
  torch::Tensor outline;  ///< [N, 2] or undefined: a dashed line; a NaN row interrupts it
  std::string outline_colour = "#ffffff";
};

struct PanelRow {
  std::string title;
  std::vector<Panel> panels;  ///< the same number in every row
};

/// Each axis runs from -half_side to half_side.
Figure draw_panels(const std::vector<PanelRow>& rows, double half_side);

/// The centres of the side x side cells of the square, [side * side, 2] in the order of Panel::values.
torch::Tensor cell_centres(int64_t side, double half_side);

// The simplex of categoricals over three classes as an equilateral triangle, one corner per class: the paper's figures
// 1 and 2.

struct SimplexPanel {
  std::string title;
  torch::Tensor logits;  ///< [3] or undefined: shade by the density Dir(mu; exp logits)
  torch::Tensor points;  ///< [M, 3] or undefined: categoricals drawn as points
};

/// The panels side by side, on one colour scale with its bar if any of them is shaded.
Figure draw_simplexes(const std::vector<SimplexPanel>& panels);

/// Where a categorical [N, 3] lies in the plane, [N, 2]: corners (0.5, sqrt(3)/2), (0, 0) and (1, 0).
torch::Tensor to_plane(const torch::Tensor& categoricals);

/// The categorical at a point of the plane, [N, 3]: the inverse of to_plane. Outside the triangle some are negative.
torch::Tensor to_simplex(const torch::Tensor& points);

}  // namespace priornet
