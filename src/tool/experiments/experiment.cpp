#include "tool/experiments/experiment.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <nlohmann/json.hpp>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/base/run_record.h"
#include "tool/base/embedded_files.h"
#include "tool/experiments/image_plans.h"
#include "tool/experiments/openood_benchmark.h"
#include "tool/experiments/reasons.h"
#include "tool/experiments/synthetic.h"
#include "tool/report/evaluation_curves.h"
#include "tool/report/evaluation_tables.h"
#include "tool/report/example_inputs.h"
#include "tool/report/image_sheets.h"
#include "tool/report/page.h"
#include "tool/report/table.h"

namespace priornet {
namespace {

constexpr std::string_view kFolder = "configs/";
constexpr std::string_view kEnding = ".toml";

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const auto& file : embedded_files())
    if (file.path.starts_with(kFolder))
      names.emplace_back(file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kEnding.size()));
  return names;
}

TrainConfig recipe(std::string_view name, const std::vector<std::string>& overrides) {
  const auto path = fmt::format("{}{}{}", kFolder, name, kEnding);
  for (const auto& file : embedded_files())
    if (file.path == path) return read_config(TomlText{path, std::string(file.text)}, overrides);
  throw ConfigError(fmt::format("there is no {}", path));
}

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
  return json_text(json, 2) + "\n";
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

void leave_evaluation(const ModelReport& report, const EvaluatedSets& sets, const RunRecord& record) {
  try {
    OutputFolder out(evaluation_folder(report.report.run));
    out.write("results.json", results_json(report, record));
    out.write("curves.json", drawn_curves(report.report));
    out.write("examples.json", json_text(examples_json(report, sets)) + "\n");
    if (sets.inside.has_images()) out.write("images.json", drawn_images(report.report, sets));
  } catch (const DataError&) {
  }
}

namespace {

constexpr Experiment kExperiments[] = {
    {"synthetic", "three Gaussian classes in the plane, apart and overlapping (section 5.1, figure 3)",
     reproduce_synthetic},
    {"mnist", "MNIST against OMNIGLOT, SEMEION, SVHN, CIFAR-10 and Fashion-MNIST (section 5.2, appendix B.1)",
     reproduce_mnist},
    {"mnist-noise", "MNIST against OMNIGLOT in Gaussian noise of sigma 0 and 3 (section 5.2)", reproduce_mnist_noise},
    {"svhn", "SVHN against CIFAR-10, CIFAR-100, TinyImageNet, LSUN and other scenes (appendix B.2)", reproduce_svhn},
    {"cifar10", "CIFAR-10 against CIFAR-100, SVHN, TinyImageNet, LSUN and other scenes (section 5.2, appendix B.3)",
     reproduce_cifar10},
    {"openood", "CIFAR-10 by the protocol of OpenOOD 1.5, beside its published rows (profiles modern and quick)",
     reproduce_openood, false},
    {"reasons",
     "is the reason right? uncertainty against people, causes of verdicts, and the amount of training data "
     "(profiles modern and quick)",
     reproduce_reasons, false},
};

}  // namespace

std::span<const Experiment> experiments() { return kExperiments; }

const Experiment& find_experiment(std::string_view name) {
  std::string known;
  for (const auto& experiment : kExperiments) {
    if (experiment.name == name) return experiment;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", experiment.name);
  }
  throw ConfigError(fmt::format("unknown experiment '{}'; known: {}", name, known));
}

namespace {

Table headline_table(const std::vector<ExperimentOutcome>& outcomes) {
  Table table{"What was found", {"experiment", "what", "ours", "published"}, {}, {}};
  for (const auto& outcome : outcomes)
    for (const auto& headline : outcome.summary.headlines)
      table.add({outcome.name, headline.what, headline.value,
                 headline.published ? Cell::number(*headline.published, 1) : Cell("-")});
  return table;
}

Table time_table(const std::vector<ExperimentOutcome>& outcomes) {
  Table table{"How long it took", {"experiment", "wall time, s", "outcome"}, {}, {}};
  double total = 0.0;
  for (const auto& outcome : outcomes) {
    total += outcome.seconds;
    table.add({outcome.name, Cell::number(outcome.seconds, 1),
               outcome.error.empty() ? Cell("done") : Cell("failed: " + outcome.error)});
  }
  table.add({"in all", Cell::number(total, 1), ""});
  return table;
}

}  // namespace

std::vector<Table> outcome_tables(const std::vector<ExperimentOutcome>& outcomes) {
  std::vector<Table> tables;
  if (auto headlines = headline_table(outcomes); !headlines.rows.empty()) tables.push_back(std::move(headlines));
  tables.push_back(time_table(outcomes));
  return tables;
}

std::vector<std::filesystem::path> write_outcomes(const std::vector<ExperimentOutcome>& outcomes,
                                                  const std::string& command, const std::filesystem::path& folder) {
  OutputFolder out(folder);
  std::string markdown;
  nlohmann::ordered_json json = {{"command", command}, {"tables", nlohmann::ordered_json::array()}};
  for (const auto& table : outcome_tables(outcomes)) {
    if (!markdown.empty()) markdown += '\n';
    markdown += to_markdown(table);
    json["tables"].push_back(parse_json(to_json(table)));
  }
  json["run"] = parse_json(to_json(describe_run()));
  out.write("summary.md", markdown);
  out.write("summary.json", json_text(json, 2) + "\n");
  return out.files();
}

}  // namespace priornet
