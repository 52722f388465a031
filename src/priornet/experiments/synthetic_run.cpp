#include <priornet/experiments/synthetic_run.h>

#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/experiments/output_folder.h>
#include <priornet/experiments/synthetic_figures.h>
#include <priornet/experiments/synthetic_page.h>
#include <priornet/experiments/synthetic_tables.h>

#include <chrono>
#include <utility>

namespace priornet {
namespace {

/// Writes both formats and returns the SVG.
std::string save(OutputFolder& out, const std::string& name, const Figure& figure) {
  auto svg = render(figure, FigureFormat::kSvg);
  out.write(name + ".svg", svg);
  out.write(name + ".png", render(figure, FigureFormat::kPng));
  return svg;
}

SyntheticSvgs save_figures(OutputFolder& out, const SyntheticResult& result, Progress& progress) {
  SyntheticSvgs svgs;
  const std::pair<std::string SyntheticSvgs::*, const char*> names[] = {{&SyntheticSvgs::figure1, "figure1"},
                                                                        {&SyntheticSvgs::figure2, "figure2"},
                                                                        {&SyntheticSvgs::figure3, "figure3"},
                                                                        {&SyntheticSvgs::comparison, "comparison"}};
  const Figure figures[] = {draw_figure1(result.options.seed), draw_figure2(), draw_figure3(result),
                            draw_comparison(result)};
  for (int64_t i = 0; i < 4; ++i) {
    progress.report("figures", i, 4);
    svgs.*names[i].first = save(out, names[i].second, figures[i]);
  }
  progress.report("figures", 4, 4);
  return svgs;
}

}  // namespace

SyntheticOptions synthetic_options(Profile profile) {
  SyntheticOptions options;
  if (profile == Profile::kQuick) options.epochs = 5;
  if (profile == Profile::kModern) {
    options.divergence = Divergence::kReverse;
    options.alpha0 = 10.0;  // the reverse divergence grows with alpha0; more would drown the out-of-distribution part
  }
  return options;
}

ExperimentSummary reproduce_synthetic(const ExperimentOptions& options, Progress& progress) {
  check_range("reproduce_synthetic", "seeds", options.seeds >= 1, "at least 1", static_cast<double>(options.seeds));
  if (!options.overrides.empty())
    throw ConfigError("the synthetic experiment has no configuration file, so there is nothing for --set to change");
  const auto start = std::chrono::steady_clock::now();
  OutputFolder out(options.out);
  std::vector<SyntheticResult> results;
  for (int64_t i = 0; i < options.seeds; ++i) {
    auto run = synthetic_options(options.profile);
    run.seed = options.seed + static_cast<uint64_t>(i);
    run.device = options.device.value_or(torch::kCPU);
    results.push_back(run_synthetic(run, progress));
  }
  ExperimentSummary summary;
  std::optional<SyntheticSvgs> svgs;
  if (can_render())
    svgs = save_figures(out, results.front(), progress);
  else
    summary.remarks.emplace_back(kNoGnuplot);
  auto record = describe_run();
  record.command = options.command;
  record.device = results.front().options.device.str();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.tables = {detection_table(results), accuracy_table(results)};
  out.write("results.json", to_json(results, record));
  out.write("table.md", to_markdown(summary.tables[0]) + "\n" + to_markdown(summary.tables[1]));
  out.write("table.csv", to_csv(summary.tables[0]));
  out.write("report.html", synthetic_page(results, record, svgs));
  summary.files = out.files();
  return summary;
}

}  // namespace priornet
