#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/report/histograms.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace priornet {
namespace {

constexpr int kPanelHeight = 250;  // in CSS pixels, as the width
constexpr int kWidth = 900;
constexpr int64_t kBins = 50;
constexpr double kTail = 0.001;  // of a line's values on either side: they do not widen the panel
constexpr std::array<const char*, 8> kColours = {"#1971c2", "#e8590c", "#c2255c", "#2b8a3e",
                                                 "#9c36b5", "#f08c00", "#0c8599", "#868e96"};

struct Bounds {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

torch::Tensor finite(const torch::Tensor& values) { return values.masked_select(values.isfinite()); }

Bounds bounds_of(const HistogramPanel& panel) {
  Bounds bounds;
  for (const auto& line : panel.lines) {
    const auto values = finite(line.values);
    if (values.numel() == 0) continue;
    const auto sorted = std::get<0>(values.sort());
    const double last = static_cast<double>(values.numel() - 1);
    const auto at = [&](double index) { return sorted[static_cast<int64_t>(index)].item<double>(); };
    bounds.low = std::min(bounds.low, at(std::floor(kTail * last)));
    bounds.high = std::max(bounds.high, at(std::ceil((1 - kTail) * last)));
  }
  check_range("draw_histograms", "the number of finite values of a panel", bounds.low <= bounds.high, "at least 1", 0);
  if (bounds.low == bounds.high) bounds.high = bounds.low + 1;  // one value alone is a bin of its own
  return bounds;
}

/// A line a bin: its left end, and the share of the values in it.
std::string shares(const torch::Tensor& values, const Bounds& bounds) {
  const double width = (bounds.high - bounds.low) / static_cast<double>(kBins);
  const auto bins = ((values - bounds.low) / width).floor().clamp(0, kBins - 1).to(torch::kInt64);
  const auto counts = torch::bincount(bins, {}, kBins);
  const auto total = static_cast<double>(std::max<int64_t>(values.numel(), 1));
  std::string text;
  for (int64_t bin = 0; bin < kBins; ++bin)
    text += fmt::format("{:.6g} {:.6g}\n", bounds.low + static_cast<double>(bin) * width,
                        static_cast<double>(counts[bin].item<int64_t>()) / total);
  return text + fmt::format("{:.6g} 0\n", bounds.high);
}

}  // namespace

Figure draw_histograms(const std::vector<HistogramPanel>& panels) {
  check_range("draw_histograms", "the number of panels", !panels.empty(), "at least 1", 0);
  Figure figure;
  figure.width = kWidth;
  figure.height = kPanelHeight * static_cast<int>(panels.size());
  figure.script = fmt::format(
      "set multiplot layout {},1\nset border 3 lw 0.8\nset key outside right top reverse Left noenhanced\n"
      "set xtics out nomirror\nset ytics out nomirror\nset ylabel 'share of inputs'\nset logscale y\n"
      "set yrange [0.0005:1]\nset format '%g'\n",
      panels.size());
  std::vector<std::string> titles;
  for (size_t p = 0; p < panels.size(); ++p) {
    const auto bounds = bounds_of(panels[p]);
    figure.script +=
        fmt::format("set title {} noenhanced font ',15'\nset xlabel {} noenhanced\nset xrange [{:.6g}:{:.6g}]\nplot ",
                    gnuplot_string(panels[p].title), gnuplot_string(panels[p].axis), bounds.low, bounds.high);
    for (size_t i = 0; i < panels[p].lines.size(); ++i) {
      const auto& line = panels[p].lines[i];
      const auto known = std::find(titles.begin(), titles.end(), line.title) - titles.begin();
      if (known == static_cast<std::ptrdiff_t>(titles.size())) titles.push_back(line.title);
      const auto file = fmt::format("p{}-{}.txt", p, i);
      figure.files.emplace_back(file, shares(finite(line.values), bounds));
      figure.script +=
          fmt::format("{}'{}' using 1:($2 > 0 ? $2 : 0.0001) with steps lw 2 lc rgb '{}' title {}", i == 0 ? "" : ", ",
                      file, kColours[static_cast<size_t>(known) % kColours.size()], gnuplot_string(line.title));
    }
    figure.script += "\n";
  }
  figure.script += "unset multiplot\n";
  return figure;
}

}  // namespace priornet
