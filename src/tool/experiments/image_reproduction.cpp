#include "tool/experiments/image_reproduction.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <chrono>

#include "tool/experiments/image_tables.h"
#include "tool/experiments/output_folder.h"
#include "tool/report/evaluation_curves.h"
#include "tool/report/image_sheets.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

/// Curves of every model; the models of an experiment share their sets.
std::string curves_of(const ImageResult& result, const std::filesystem::path& out) {
  DrawnSets sets{result.experiment.seed, result.experiment.inside_title, {}};
  for (const auto& set : result.outside) sets.outside.push_back(set.title);
  std::vector<DrawnModel> models;
  for (const auto& model : result.models)
    models.push_back({model.plan.name, model.plan.config.noise, out / model.report.run, &model.report.evaluation});
  return curves_json(sets, models);
}

/// Of the last model that gives a Dirichlet, else of the last one.
std::string images_of(const ImageResult& result) {
  const auto gives_dirichlet = [](const ModelResult& model) {
    return model.report.evaluation.inside_scores.find("precision") != nullptr;
  };
  const auto found = std::find_if(result.models.rbegin(), result.models.rend(), gives_dirichlet);
  const auto& model = found == result.models.rend() ? result.models.back() : *found;
  const auto& evaluation = model.report.evaluation;
  std::vector<CertaintySet> sets{{result.experiment.inside_title, &result.inside, &evaluation.inside_scores}};
  for (size_t s = 0; s < result.outside.size(); ++s)
    sets.push_back({result.outside[s].title, &result.outside_sets[s], &evaluation.outside_scores[s]});
  return certainty_json(sets, {.seed = result.experiment.seed, .model = model.plan.name});
}

torch::Device best_device() {
#if defined(PRIORNET_CUDA)
  if (torch::cuda::is_available()) return {torch::kCUDA, 0};
#endif
  return torch::kCPU;
}

std::vector<Headline> headlines_of(const std::vector<ImageResult>& results) {
  const bool has_sigma = results.front().experiment.is_noise_table;
  std::vector<Headline> headlines;
  for (const auto& cell : headline_cells(results)) {
    const auto model = has_sigma ? fmt::format("{}, sigma {:g}", cell.model, cell.sigma) : cell.model;
    const auto value = fmt::format("{:.2f} ± {:.2f}", cell.ours.value, (cell.ours.high - cell.ours.low) / 2);
    const auto what = cell.metric == CellMetric::kError ? std::string("error, %")
                                                        : fmt::format("AUROC by D.Ent. against {}, %", cell.outside);
    headlines.push_back({fmt::format("{}: {}", model, what), value, cell.published});
  }
  return headlines;
}

/// Of networks that answered no better than chance and were trained again.
std::vector<std::string> restart_remarks(const std::vector<ImageResult>& results) {
  std::vector<std::string> remarks;
  for (const auto& result : results)
    for (const auto& model : result.models)
      if (model.restarts > 0)
        remarks.push_back(fmt::format(
            "{}, seed {}: began again from another seed, {} of at most {} times: the network "
            "answered no better than chance.",
            model.plan.name, result.experiment.seed, model.restarts, model.plan.config.restarts.value_or(0)));
  return remarks;
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

ImageRunOptions run_options(const ExperimentOptions& options, ImageRunOptions run) {
  run.device = options.device.value_or(best_device());
  run.runs = options.out / "runs";
  run.stop = options.stop;
  return run;
}

std::vector<std::filesystem::path> runs_beside(const std::filesystem::path& out,
                                               const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> folders;
  for (const auto& name : names) folders.push_back((out / ".." / name / "runs").lexically_normal());
  return folders;
}

ExperimentSummary reproduce_images(const PlanOfSeed& plan, const ExperimentOptions& options, ImageRunOptions run,
                                   Progress& progress) {
  check_range("reproduce_images", "seeds", options.seeds >= 1, "at least 1", static_cast<double>(options.seeds));
  const auto start = std::chrono::steady_clock::now();
  OutputFolder out(options.out);
  run = run_options(options, std::move(run));
  std::vector<ImageResult> results;
  for (int64_t i = 0; i < options.seeds; ++i) {
    const auto seed = options.seed + static_cast<uint64_t>(i);
    results.push_back(run_image_experiment(plan(seed), run, progress));
    if (i > 0) drop_scores(results.back());
  }
  ExperimentSummary summary;
  auto record = describe_run();
  record.command = options.command;
  record.device = run.device.str();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.tables = image_tables(results);
  summary.headlines = headlines_of(results);
  summary.remarks = restart_remarks(results);
  out.write("results.json", to_json(results, record));
  out.write("curves.json", curves_of(results.front(), options.out));
  out.write("images.json", images_of(results.front()));
  out.write("table.csv", to_csv(cell_table(results)));
  write_report(out);
  summary.files = out.files();
  return summary;
}

}  // namespace priornet
