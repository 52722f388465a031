#include "tool/report/evaluation_results.h"

#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "tool/report/evaluation_curves.h"
#include "tool/report/evaluation_tables.h"
#include "tool/report/example_inputs.h"
#include "tool/report/image_sheets.h"
#include "tool/report/table.h"

namespace priornet {
namespace {

using EvaluationJson = nlohmann::ordered_json;

std::string results_json(const ModelReport& shown, const RunRecord& record) {
  const auto& report = shown.report;
  EvaluationJson json = {{"experiment", "evaluation"},         {"title", shown.model.name},
                         {"lead", description(shown)},         {"summary", summary_json(shown)},
                         {"tables", EvaluationJson::array()},  {"trivial", EvaluationJson::array()},
                         {"run", parse_json(to_json(record))}, {"evaluation", parse_json(to_json(report))}};
  for (const auto& table : evaluation_tables(report)) json["tables"].push_back(parse_json(store_table(table)));
  for (const auto& set : report.evaluation.outside)
    if (!set.trivial.name.empty())
      json["trivial"].push_back(
          {{"set", short_set_name(set.name)}, {"statistic", set.trivial.name}, {"auroc", set.trivial.auroc}});
  return json_text(json) + "\n";
}

std::string drawn_curves(const EvaluationReport& report) {
  DrawnSets sets{report.evaluation.scoring.seed, short_set_name(report.evaluation.inside.name), {}};
  for (const auto& set : report.evaluation.outside) sets.outside.push_back(short_set_name(set.name));
  return curves_json(sets, {{report.method, report.evaluation.scoring.noise, report.run, &report.evaluation}});
}

std::string drawn_images(const EvaluationReport& report, const EvaluatedSets& sets) {
  const auto& evaluation = report.evaluation;
  std::vector<CertaintySet> drawn{{short_set_name(evaluation.inside.name), &sets.inside, &evaluation.inside_scores}};
  for (size_t s = 0; s < sets.outside.size(); ++s)
    drawn.push_back({short_set_name(evaluation.outside[s].name), &sets.outside[s], &evaluation.outside_scores[s]});
  return certainty_json(drawn, {.seed = evaluation.scoring.seed, .model = report.method});
}

}  // namespace

void write_evaluation(OutputFolder& out, const ModelReport& report, const EvaluatedSets& sets,
                      const RunRecord& record) {
  out.write("results.json", results_json(report, record));
  out.write("curves.json", drawn_curves(report.report));
  out.write("examples.json", json_text(examples_json(report, sets)) + "\n");
  if (sets.inside.has_images()) out.write("images.json", drawn_images(report.report, sets));
}

}  // namespace priornet
