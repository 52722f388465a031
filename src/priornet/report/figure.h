#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Pictures are drawn by gnuplot, which is looked for on the PATH when one is wanted.

namespace priornet {

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

/// Whether there is a gnuplot to draw with; without one render() throws.
bool can_render();

/// What to say where there is none.
constexpr std::string_view kNoGnuplot = "figures need gnuplot: apt install gnuplot-nox";

/// The bytes of the picture. Throws DataError where gnuplot is missing or rejects the script.
std::string render(const Figure& figure, FigureFormat format);

/// A gnuplot string literal, single-quoted: nothing in it is special to gnuplot.
std::string gnuplot_string(std::string_view text);

}  // namespace priornet
