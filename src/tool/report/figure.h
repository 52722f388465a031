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
  kSvg,  ///< self-contained, transparent, text as text
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

// Tensors as the data files of a figure.

/// As they lie in memory, row by row.
std::string figure_bytes(const torch::Tensor& tensor);

/// Points [N, 2], one line per point; a NaN interrupts a gnuplot line.
std::string figure_text(const torch::Tensor& points);

}  // namespace priornet
