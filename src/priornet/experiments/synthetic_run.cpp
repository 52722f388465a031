#include <priornet/experiments/synthetic_run.h>

#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/experiments/output_report.h>
#include <priornet/experiments/synthetic_figures.h>
#include <priornet/experiments/synthetic_maps.h>
#include <priornet/experiments/synthetic_tables.h>

#include <chrono>
#include <utility>

namespace priornet {
namespace {

void save_figures(OutputFolder& out, const SyntheticResult& result, Progress& progress) {
  const std::pair<const char*, Figure> figures[] = {{"figure1", draw_figure1(result.options.seed)},
                                                    {"figure2", draw_figure2()},
                                                    {"figure3", draw_figure3(result)},
                                                    {"comparison", draw_comparison(result)}};
  int64_t done = 0;
  for (const auto& [name, figure] : figures) {
    progress.report("figures", done++, 4);
    out.write(std::string(name) + ".svg", render(figure, FigureFormat::kSvg));
    out.write(std::string(name) + ".png", render(figure, FigureFormat::kPng));
  }
  progress.report("figures", 4, 4);
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
  if (can_render())
    save_figures(out, results.front(), progress);
  else
    summary.remarks.emplace_back(kNoGnuplot);
  auto record = describe_run();
  record.command = options.command;
  record.device = results.front().options.device.str();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.tables = {detection_table(results), accuracy_table(results)};
  out.write("results.json", to_json(results, record));
  out.write("maps.json", maps_json(results.front()));
  out.write("table.csv", to_csv(summary.tables[0]));
  write_report(out);
  summary.files = out.files();
  return summary;
}

}  // namespace priornet
