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
#include "tool/report/evaluation_results.h"
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

void write_report(OutputFolder& out) {
  const auto results = read_results(out.path());
  out.write("table.md", to_markdown(results));
  out.write("table.tex", to_latex(results));
  out.write("report.html", report_page({results}));
}

std::string leave_evaluation(const ModelReport& report, const EvaluatedSets& sets, const RunRecord& record) {
  try {
    OutputFolder out(evaluation_folder(report.report.run));
    write_evaluation(out, report, sets, record);
    return {};
  } catch (const DataError& error) {
    return error.what();
  }
}

namespace {

// An experiment that is a plan of networks on images and writes the files of image_run.h. It uses networks of finished
// experiments `beside` it, in the folders beside its own. AbsentSet if a set that it needs is missing.
Experiment on_images(std::string_view name, std::string_view description, PlanImages plan, bool is_of_paper,
                     const std::vector<std::string>& beside = {}) {
  return {.name = name,
          .description = description,
          .run =
              [=](const ExperimentOptions& options, Progress& progress) {
                return reproduce_images(plan_by(plan, options), options, with_runs_beside(options, beside), progress);
              },
          .is_of_paper = is_of_paper,
          .networks =
              [=](const ExperimentOptions& options) {
                const auto plans = chosen_plans(plan_by(plan, options), options);
                return plan_images(plans, options, with_runs_beside(options, beside));
              }};
}

}  // namespace

std::span<const Experiment> experiments() {
  constexpr bool kOfPaper = true;
  static const std::vector<Experiment> kExperiments = {
      {"synthetic", "three Gaussian classes in the plane, apart and overlapping (section 5.1, figure 3)",
       reproduce_synthetic},
      on_images("mnist",
                "MNIST against OMNIGLOT, SEMEION, SVHN, CIFAR-10 and Fashion-MNIST (section 5.2, appendix B.1)",
                mnist_experiment, kOfPaper),
      on_images("mnist-noise", "MNIST against OMNIGLOT in Gaussian noise of sigma 0 and 3 (section 5.2)",
                mnist_noise_experiment, kOfPaper, {"mnist"}),
      on_images("svhn", "SVHN against CIFAR-10, CIFAR-100, TinyImageNet, LSUN and other scenes (appendix B.2)",
                svhn_experiment, kOfPaper),
      on_images("cifar10",
                "CIFAR-10 against CIFAR-100, SVHN, TinyImageNet, LSUN and other scenes (section 5.2, appendix B.3)",
                cifar10_experiment, kOfPaper),
      {"openood", "CIFAR-10 by the protocol of OpenOOD 1.5, beside its published rows (profiles modern and quick)",
       reproduce_openood, !kOfPaper, openood_networks},
      {"reasons",
       "is the reason right? uncertainty against people, causes of verdicts, and the amount of training data "
       "(profiles modern and quick)",
       reproduce_reasons, !kOfPaper, reasons_networks},
      on_images("relatives",
                "Prior Networks beside evidential and posterior networks on CIFAR-10 (profiles modern and quick)",
                relatives_experiment, !kOfPaper, {"cifar10", "cifar10-modern", "openood", "reasons"}),
  };
  return kExperiments;
}

const Experiment& experiment_named(std::string_view name) {
  std::string known;
  for (const auto& experiment : experiments()) {
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
