#include "tool/experiments/reasons_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace priornet {
namespace {

// Distinct with and without colour (Okabe and Ito); the first four also by their shapes.
constexpr std::array<const char*, 4> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};
constexpr std::array<int, 4> kShapes = {7, 5, 9, 13};

// By Verdict: sure is pale.
constexpr std::array<const char*, kVerdictNames.size()> kVerdictColours = {"#d0d4da", "#e69f00", "#0072b2", "#009e73"};
constexpr std::array<const char*, kVerdictNames.size()> kVerdictWords = {"sure", "ambiguous", "unfamiliar",
                                                                         "undecided"};

constexpr const char* kFrame =
    "set border 3 lw 0.8 lc rgb '#666666'\nset tics out scale 0.5 nomirror\nset grid lc rgb '#dddddd' lt 1 lw 0.6\n";

template <class Rows, class Name>
std::vector<std::string> names_of(const Rows& rows, Name&& name) {
  std::vector<std::string> names;
  for (const auto& row : rows)
    if (std::find(names.begin(), names.end(), name(row)) == names.end()) names.push_back(name(row));
  return names;
}

size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// Rank correlation with people, with its interval: one group of points per model, one point per measure.
Figure draw_people(const std::vector<PeopleMean>& rows) {
  const auto models = names_of(rows, [](const auto& row) { return row.model; });
  const auto measures = names_of(rows, [](const auto& row) { return row.label; });
  Figure figure;
  figure.width = 760;
  figure.height = 110 + 62 * static_cast<int>(models.size());
  std::vector<std::string> ticks, plots;
  for (size_t m = 0; m < models.size(); ++m) ticks.push_back(fmt::format("{} {}", gnuplot_string(models[m]), m));
  for (size_t k = 0; k < measures.size(); ++k) {
    std::string points;
    for (const auto& row : rows) {
      if (row.label != measures[k]) continue;
      const auto y = static_cast<double>(place_of(models, row.model)) +
                     0.17 * (static_cast<double>(k) - (static_cast<double>(measures.size()) - 1) / 2);
      points +=
          fmt::format("{:.5f} {:.3f} {:.5f} {:.5f}\n", row.spearman.value, y, row.spearman.low, row.spearman.high);
    }
    const auto file = fmt::format("people-{}", k);
    figure.files.emplace_back(file, points);
    plots.push_back(fmt::format("'{}' using 1:2:3:4 with xerrorbars pt {} ps 0.8 lw 1.2 lc rgb '{}' title {}", file,
                                kShapes.at(k % kShapes.size()), kColours.at(k % kColours.size()),
                                gnuplot_string(measures[k])));
  }
  figure.script = fmt::format(
      "{}set lmargin 17\nset bmargin 6\nset yrange [{}:-0.6]\nset ytics ({}) noenhanced\nset xlabel 'rank correlation "
      "with the entropy of people''s labels' offset 0,0.3\nset key below horizontal noenhanced\nset bars 0.4\n"
      "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lw 0.8 lc rgb '#666666'\nplot {}\n",
      kFrame, static_cast<double>(models.size()) - 0.4, joined(ticks), joined(plots));
  return figure;
}

/// Boxes of one model: groups from top to bottom, shares from left to right, and the shares in % if there is room.
std::string verdict_boxes(const std::vector<VerdictMean>& rows, const std::vector<std::string>& groups,
                          const std::string& model, int& next) {
  std::string script;
  for (const auto& row : rows) {
    if (row.model != model) continue;
    const auto y = static_cast<double>(place_of(groups, row.shares.group));
    double left = 0.0;
    for (size_t v = 0; v < kVerdictWords.size(); ++v) {
      const double share = 100 * row.shares.shares[v];
      script +=
          fmt::format("set object {} rectangle from {:.3f},{:.2f} to {:.3f},{:.2f} fc rgb '{}' fs solid noborder\n",
                      next, left, y - 0.36, left + share, y + 0.36, kVerdictColours[v]);
      if (share >= 9)
        script += fmt::format("set label {} '{:.0f}' at {:.3f},{:.2f} center font ',11' tc rgb '{}' front\n", next,
                              share, left + share / 2, y, v >= 2 ? "#ffffff" : "#222222");
      left += share;
      ++next;
    }
  }
  return script;
}

/// One panel per model, one bar per kind of images: the shares of verdicts. "All test images" is left out.
Figure draw_verdicts(const std::vector<VerdictMean>& all) {
  auto rows = all;
  std::erase_if(rows, [](const auto& row) { return row.shares.group == "all test images" || row.shares.images == 0; });
  const auto models = names_of(rows, [](const auto& row) { return row.model; });
  const auto groups = names_of(rows, [](const auto& row) { return row.shares.group; });
  constexpr int kLabels = 262, kPanel = 215, kGap = 18, kTop = 34, kBottom = 56;
  const auto columns = std::min<int>(3, static_cast<int>(models.size()));
  const auto lines = (static_cast<int>(models.size()) + columns - 1) / columns;
  const auto height = 24 * static_cast<int>(groups.size());
  Figure figure;
  figure.width = kLabels + columns * (kPanel + kGap);
  figure.height = kBottom + lines * (height + kTop) + 6;
  const auto share_x = [&](int pixels) { return static_cast<double>(pixels) / figure.width; };
  const auto share_y = [&](int pixels) { return 1.0 - static_cast<double>(pixels) / figure.height; };
  std::vector<std::string> ticks;
  for (size_t g = 0; g < groups.size(); ++g) ticks.push_back(fmt::format("{} {}", gnuplot_string(groups[g]), g));
  auto& script = figure.script;
  script = fmt::format(
      "set multiplot\nunset key\nset border 0\nset tics out scale 0 nomirror\nset xrange [0:100]\nset yrange "
      "[{}:-0.5]\nset title offset 0,-0.6\n",
      static_cast<double>(groups.size()) - 0.5);
  int next = 1;
  for (size_t m = 0; m < models.size(); ++m) {
    const auto column = static_cast<int>(m) % columns, line = static_cast<int>(m) / columns;
    const auto left = kLabels + column * (kPanel + kGap), top = kTop + line * (height + kTop);
    const bool is_last = m + static_cast<size_t>(columns) >= models.size();
    script += fmt::format(
        "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\nset tmargin at screen {:.5f}\nset bmargin at "
        "screen "
        "{:.5f}\nset title {} noenhanced font ',14'\n",
        share_x(left), share_x(left + kPanel), share_y(top), share_y(top + height), gnuplot_string(models[m]));
    script += column == 0 ? fmt::format("set ytics scale 0 nomirror ({}) noenhanced font ',12'\n", joined(ticks))
                          : "unset ytics\n";
    script += is_last ? "set xtics scale 0 nomirror 25 offset 0,0.5 font ',11'\n" : "unset xtics\n";
    script += "unset object\nunset label\n" + verdict_boxes(rows, groups, models[m], next) + "plot -1 notitle\n";
  }
  // The legend: one axis over the whole picture.
  script +=
      "unset object\nunset label\nunset title\nunset tics\nset lmargin at screen 0\nset rmargin at screen 1\nset "
      "tmargin "
      "at screen 1\nset bmargin at screen 0\nset xrange [0:1]\nset yrange [0:1]\n";
  for (size_t v = 0; v < kVerdictWords.size(); ++v) {
    const auto x = share_x(kLabels + 120 * static_cast<int>(v)), y = 12.0 / figure.height;
    script += fmt::format(
        "set object {} rectangle from {:.5f},{:.5f} to {:.5f},{:.5f} fc rgb '{}' fs solid noborder\nset label {} '{}' "
        "at "
        "{:.5f},{:.5f} left font ',12'\n",
        v + 1, x, y - 6.0 / figure.height, x + share_x(14), y + 6.0 / figure.height, kVerdictColours[v], v + 1,
        kVerdictWords[v], x + share_x(20), y);
  }
  script +=
      fmt::format("set label 9 'shares in %' at {:.5f},{:.5f} left font ',12'\nplot -1 notitle\nunset multiplot\n",
                  share_x(10), 12.0 / figure.height);
  return figure;
}

/// Expected entropy and mutual information against the number of training images, one line each per model.
Figure draw_amounts(const std::vector<AmountResult>& rows) {
  const auto models = names_of(rows, [](const auto& row) { return row.amount.model; });
  Figure figure;
  figure.width = 760;
  figure.height = 430;
  std::vector<std::string> plots, ticks;
  for (const auto& row : rows)
    if (row.amount.model == models.front())
      ticks.push_back(fmt::format("'{}' {}", row.amount.images, row.amount.images));
  for (size_t m = 0; m < models.size(); ++m)
    for (const bool is_data : {true, false}) {
      std::string points;
      for (const auto& row : rows) {
        if (row.amount.model != models[m]) continue;
        const auto& part = is_data ? row.data : row.knowledge;
        points += fmt::format("{} {:.6f} {:.6f} {:.6f}\n", row.amount.images, part.value, part.low, part.high);
      }
      const auto file = fmt::format("amounts-{}-{}", m, is_data ? "data" : "knowledge");
      figure.files.emplace_back(file, points);
      const auto style = fmt::format("lw 1.6 dt {} pt {} ps 0.8 lc rgb '{}'", is_data ? 2 : 1,
                                     kShapes.at(m % kShapes.size()), kColours.at(m % kColours.size()));
      plots.push_back(fmt::format(
          "'{}' using 1:2:3:4 with yerrorlines {} title {}", file, style,
          gnuplot_string(fmt::format("{}: {}", models[m], is_data ? "expected entropy" : "mutual information"))));
    }
  figure.script = fmt::format(
      "{}set logscale xy\nset xtics ({})\nset ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)\nset bars 0.4\n"
      "set autoscale yfix\nset offsets graph 0.02, graph 0.02, graph 0.05, graph 0.05\n"
      "set xlabel 'training images' offset 0,0.3\nset ylabel 'mean over the test images, nats' offset 0.8,0\n"
      "set key bottom left Left reverse samplen 3 noenhanced\nplot {}\n",
      kFrame, joined(ticks), joined(plots));
  return figure;
}

}  // namespace

std::vector<NamedFigure> reasons_figures(const ReasonsMeans& means) {
  std::vector<NamedFigure> figures;
  if (!means.people.empty()) figures.push_back({"people", draw_people(means.people)});
  if (!means.verdicts.empty()) figures.push_back({"verdicts", draw_verdicts(means.verdicts)});
  if (!means.amounts.empty()) figures.push_back({"amounts", draw_amounts(means.amounts)});
  return figures;
}

}  // namespace priornet
