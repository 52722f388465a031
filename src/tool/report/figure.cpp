#include "tool/report/figure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/uncertainty/dirichlet.h>
#include <priornet/uncertainty/errors.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <span>
#include <sstream>

#include "learning/base/file_io.h"
#include "uncertainty/core/checks.h"

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

namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto name = (fs::temp_directory_path() / "priornet-figure-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw DataError(fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw DataError(fmt::format("{}: cannot be written", (path_ / name).string()));
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string find_gnuplot() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto candidate = fs::path(folder.empty() ? "." : folder) / "gnuplot";
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
      return fs::absolute(candidate).string();
  }
  return {};
}

/// Runs gnuplot on plot.gp in the folder, with its messages in `log` there, and returns its exit status.
int run_gnuplot(const std::string& program, const fs::path& folder) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // -d: the user's own start-up file must not change the picture.
  const char* arguments[] = {"gnuplot", "-d", "plot.gp", nullptr};
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw DataError(fmt::format("{}: cannot be started: {}", program, std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw DataError(fmt::format("{}: was lost: {}", program, std::strerror(errno)));
  return status;
}

std::string terminal_of(const Figure& figure, FigureFormat format) {
  if (format == FigureFormat::kSvg)
    return fmt::format(
        "set terminal svg size {},{} dynamic enhanced standalone background '#ffffff' font 'Helvetica, Arial, "
        "sans-serif,13' butt\n",
        figure.width, figure.height);
  // Cairo counts fonts in points of 4/3 pixel: 1.5 times the number is twice the CSS pixels.
  return fmt::format(
      "set terminal pngcairo size {},{} enhanced font 'Helvetica,13' fontscale 1.5 linewidth 2 pointscale 2 butt\n",
      2 * figure.width, 2 * figure.height);
}

}  // namespace

bool can_render() { return !find_gnuplot().empty(); }

std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char character : text) {
    if (character == '\'') result += '\'';  // doubled, as in SQL
    result += character == '\n' ? ' ' : character;
  }
  return result + "'";
}

std::string render(const Figure& figure, FigureFormat format) {
  const auto program = find_gnuplot();
  if (program.empty()) throw DataError(std::string(kNoGnuplot));
  const TemporaryFolder folder;
  for (const auto& [name, bytes] : figure.files) folder.write(name, bytes);
  folder.write("plot.gp", "set encoding utf8\n" + terminal_of(figure, format) + "set output 'picture'\n" +
                              figure.script + "\nunset output\n");
  const int status = run_gnuplot(program, folder.path());
  if (status != 0) {
    auto said = InputFile(folder.path() / "log").read_rest();
    said.erase(said.find_last_not_of(" \n") + 1);
    throw DataError(fmt::format("gnuplot failed: {}", said.substr(said.rfind('\n') + 1)));
  }
  return InputFile(folder.path() / "picture").read_rest();
}

namespace {

// Tensors as the data files of a figure.

/// As they lie in memory, row by row.
std::string figure_bytes(const torch::Tensor& tensor) {
  const auto flat = tensor.contiguous();
  return {static_cast<const char*>(flat.data_ptr()), flat.nbytes()};
}

/// Points [N, 2], one line per point; a NaN interrupts a gnuplot line.
std::string figure_text(const torch::Tensor& points) {
  const auto table = points.to(torch::kCPU, torch::kFloat64).contiguous();
  const auto value = table.accessor<double, 2>();
  std::string text;
  for (int64_t i = 0; i < table.size(0); ++i) {
    if (std::isnan(value[i][0]))
      text += '\n';
    else
      fmt::format_to(std::back_inserter(text), "{:.5f} {:.5f}\n", value[i][0], value[i][1]);
  }
  return text;
}

// Where the next plot lies, in CSS pixels.
void place(Figure& figure, double left, double top, double width, double height) {
  figure.script += fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\nset tmargin at screen {:.6f}\n"
      "set bmargin at screen {:.6f}\n",
      left / figure.width, (left + width) / figure.width, 1.0 - top / figure.height,
      1.0 - (top + height) / figure.height);
}

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
    place(figure_, left, top_of(row), kPanel, kPanel);
    heat_map(name, panel);
    figure_.script += "unset label 1\n";
    place(figure_, left + kPanel + kBarGap, top_of(row), kBar, kPanel);
    colour_bar(name, panel.scale);
  }

  Figure take() {
    figure_.script += "unset multiplot\n";
    return std::move(figure_);
  }

 private:
  static double top_of(int64_t row) { return kTop + static_cast<double>(row) * (kPanel + kRowGap); }

  void heat_map(const std::string& name, const Panel& panel) {
    const auto side = panel.values.size(0);
    const double cell = 2 * half_side_ / static_cast<double>(side);
    figure_.files.emplace_back(name + ".rgb", figure_bytes(colours(panel.values, panel.scale.map, panel.scale.range)));
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

  void colour_bar(const std::string& name, const ColourScale& scale) {
    constexpr int64_t kSteps = 256;
    const auto& [low, high] = scale.range;
    const double step = (high - low) / kSteps;
    const auto ramp = torch::linspace(low + step / 2, high - step / 2, kSteps, torch::kFloat64).unsqueeze(1);
    figure_.files.emplace_back(name + ".bar", figure_bytes(colours(ramp.expand({kSteps, 2}), scale.map, scale.range)));
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
