#include "tool/experiments/output_folder.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <nlohmann/json.hpp>

#include "learning/base/file_io.h"
#include "tool/report/evaluation_curves.h"
#include "tool/report/evaluation_tables.h"
#include "tool/report/image_sheets.h"
#include "tool/report/page.h"
#include "tool/report/table.h"

namespace priornet {

OutputFolder::OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", path_.string(), error.message()));
  const AtomicFile probe(path_ / "results.json");  // never committed: leaves nothing behind
}

void OutputFolder::write(std::string_view name, std::string_view bytes) {
  AtomicFile file(path_ / name);
  file.write(bytes);
  file.commit();
  files_.push_back(path_ / name);
}

void write_report(OutputFolder& out) {
  const auto results = read_results(out.path());
  out.write("table.md", to_markdown(results));
  out.write("table.tex", to_latex(results));
  out.write("report.html", report_page({results}));
}

namespace {

using EvaluationJson = nlohmann::ordered_json;

std::string results_json(const EvaluationReport& report, const RunRecord& record) {
  const auto& inside = report.evaluation.inside;
  EvaluationJson json = {
      {"experiment", "evaluation"},
      {"title", fmt::format("{} on {}", report.run, inside.name)},
      {"lead", fmt::format("A run of method {}, {} checkpoint, evaluated.", report.method, report.checkpoint)},
      {"headlines", {{{"text", fmt::format("{:.2f} %", 100 * inside.error)}, {"label", "error"}}}},
      {"tables", EvaluationJson::array()},
      {"trivial", EvaluationJson::array()},
      {"run", EvaluationJson::parse(to_json(record))},
      {"evaluation", EvaluationJson::parse(to_json(report))}};
  for (const auto& table : evaluation_tables(report))
    json["tables"].push_back(EvaluationJson::parse(store_table(table)));
  for (const auto& set : report.evaluation.outside)
    json["trivial"].push_back({{"set", set.name}, {"statistic", set.trivial.name}, {"auroc", set.trivial.auroc}});
  return json.dump(2) + "\n";
}

std::string drawn_curves(const EvaluationReport& report) {
  DrawnSets sets{report.evaluation.scoring.seed, report.evaluation.inside.name, {}};
  for (const auto& set : report.evaluation.outside) sets.outside.push_back(set.name);
  return curves_json(sets, {{report.method, report.evaluation.scoring.noise, report.run, &report.evaluation}});
}

std::string drawn_images(const EvaluationReport& report, const EvaluatedSets& sets) {
  const auto& evaluation = report.evaluation;
  std::vector<CertaintySet> drawn{{evaluation.inside.name, &sets.inside, &evaluation.inside_scores}};
  for (size_t s = 0; s < sets.outside.size(); ++s)
    drawn.push_back({evaluation.outside[s].name, &sets.outside[s], &evaluation.outside_scores[s]});
  return certainty_json(drawn, {.seed = evaluation.scoring.seed, .model = report.method});
}

}  // namespace

void leave_evaluation(const EvaluationReport& report, const EvaluatedSets& sets, const RunRecord& record) {
  try {
    OutputFolder out(std::filesystem::path(report.run) / "evaluation");
    out.write("results.json", results_json(report, record));
    out.write("curves.json", drawn_curves(report));
    if (sets.inside.has_images()) out.write("images.json", drawn_images(report, sets));
  } catch (const DataError&) {
  }
}

}  // namespace priornet
