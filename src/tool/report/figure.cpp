#include "tool/report/figure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
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
        "set terminal svg size {},{} dynamic enhanced standalone font 'Helvetica, Arial, sans-serif,13' butt\n",
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

std::string figure_bytes(const torch::Tensor& tensor) {
  const auto flat = tensor.contiguous();
  return {static_cast<const char*>(flat.data_ptr()), flat.nbytes()};
}

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

}  // namespace priornet
