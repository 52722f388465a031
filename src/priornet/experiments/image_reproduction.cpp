#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/core/lower_case.h>
#include <priornet/experiments/image_page.h>
#include <priornet/experiments/image_reproduction.h>
#include <priornet/experiments/image_tables.h>
#include <priornet/experiments/output_folder.h>
#include <torch/cuda.h>

#include <chrono>

namespace priornet {
namespace {

/// "OMNIGLOT, inverted" becomes "omniglot-inverted".
std::string file_stem(const std::string& title) {
  std::string stem;
  for (const char character : lower_case(title)) {
    const bool is_plain = (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9');
    if (is_plain)
      stem += character;
    else if (!stem.empty() && stem.back() != '-')
      stem += '-';
  }
  return stem;
}

ImagePictures save_pictures(OutputFolder& out, const ImageResult& result, ExperimentSummary& summary) {
  ImagePictures pictures;
  if (can_render()) {
    const auto figure = draw_scores(result);
    pictures.scores_svg = render(figure, FigureFormat::kSvg);
    out.write("scores.svg", pictures.scores_svg);
    out.write("scores.png", render(figure, FigureFormat::kPng));
  } else {
    summary.remarks.emplace_back(kNoGnuplot);
  }
  try {
    pictures.sheets = certainty_sheets(result);
    for (const auto& sheet : pictures.sheets) out.write("sheet-" + file_stem(sheet.title) + ".png", sheet.png);
  } catch (const DataError& error) {
    summary.remarks.emplace_back(error.what());
  }
  return pictures;
}

torch::Device best_device() {
#if defined(PRIORNET_CUDA)
  if (torch::cuda::is_available()) return {torch::kCUDA, 0};
#endif
  return torch::kCPU;
}

/// Errors, and how well the differential entropy detects each set.
std::vector<Headline> headlines_of(const std::vector<ImageResult>& results) {
  const bool has_sigma = results.front().experiment.is_noise_table;
  std::vector<Headline> headlines;
  for (const auto& cell : result_cells(results)) {
    const auto model = has_sigma ? fmt::format("{}, sigma {:g}", cell.model, cell.sigma) : cell.model;
    const auto value = fmt::format("{:.2f} ± {:.2f}", cell.ours.value, (cell.ours.high - cell.ours.low) / 2);
    if (cell.metric == CellMetric::kError) headlines.push_back({model + ": error, %", value, cell.published});
    const bool is_differential = kPaperMeasures[cell.measure] == "differential_entropy";
    if (cell.metric == CellMetric::kAuroc && is_differential && !cell.outside.empty())
      headlines.push_back(
          {fmt::format("{}: AUROC by D.Ent. against {}, %", model, cell.outside), value, cell.published});
  }
  return headlines;
}

/// Of all but the first seed the tables alone are wanted.
void drop_scores(ImageResult& result) {
  for (auto& model : result.models) {
    model.report.evaluation.inside_scores = {};
    model.report.evaluation.outside_scores.clear();
  }
  result.inside = {};
  result.outside_sets.clear();
}

}  // namespace

ExperimentSummary reproduce_images(const PlanOfSeed& plan, const ExperimentOptions& options, ImageRunOptions run,
                                   Progress& progress) {
  check_range("reproduce_images", "seeds", options.seeds >= 1, "at least 1", static_cast<double>(options.seeds));
  const auto start = std::chrono::steady_clock::now();
  OutputFolder out(options.out);
  run.device = options.device.value_or(best_device());
  run.runs = options.out / "runs";
  run.stop = options.stop;
  std::vector<ImageResult> results;
  for (int64_t i = 0; i < options.seeds; ++i) {
    const auto seed = options.seed + static_cast<uint64_t>(i);
    results.push_back(run_image_experiment(plan(seed), run, progress));
    if (i > 0) drop_scores(results.back());
  }
  ExperimentSummary summary;
  const auto pictures = save_pictures(out, results.front(), summary);
  auto record = describe_run();
  record.command = options.command;
  record.device = run.device.str();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.tables = image_tables(results);
  summary.headlines = headlines_of(results);
  std::string markdown;
  for (const auto& table : summary.tables) {
    if (!markdown.empty()) markdown += '\n';
    markdown += to_markdown(table);
  }
  out.write("results.json", to_json(results, record));
  out.write("table.md", markdown);
  out.write("table.csv", to_csv(cell_table(results)));
  out.write("report.html", image_page(results, record, pictures));
  summary.files = out.files();
  return summary;
}

}  // namespace priornet
