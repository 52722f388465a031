#include "tool/experiments/synthetic_results.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "tool/experiments/output_folder.h"
#include "tool/experiments/synthetic_figures.h"
#include "tool/report/table.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

struct Spread {
  double mean = 0.0;
  double deviation = 0.0;
};

template <typename Value>
Spread spread_of(const std::vector<SyntheticResult>& results, size_t index, Value&& value) {
  const auto count = static_cast<double>(results.size());
  Spread spread;
  for (const auto& result : results) spread.mean += value(result.cases[index]) / count;
  for (const auto& result : results)
    spread.deviation += std::pow(value(result.cases[index]) - spread.mean, 2) / std::max(1.0, count - 1);
  spread.deviation = std::sqrt(spread.deviation);
  return spread;
}

using ModelOf = SyntheticModel SyntheticCase::*;
using MeasureOf = Separation SyntheticModel::*;

Cell separation_cell(const std::vector<SyntheticResult>& results, size_t index, ModelOf model, MeasureOf measure) {
  const auto [mean, deviation] =
      spread_of(results, index, [&](const SyntheticCase& entry) { return (entry.*model.*measure).auroc; });
  const auto& only = results.front().cases[index].*model.*measure;
  const double margin = results.size() == 1 ? (only.high - only.low) / 2 : deviation;
  const CellContext context{mean - margin, mean + margin, std::nullopt, false};
  // The precision of a plain network is whatever training left: see the note.
  const bool flagged = model == &SyntheticCase::dnn && measure != &SyntheticModel::entropy;
  return Cell::number(mean, fmt::format("{}{:.4f} ± {:.4f}", flagged ? "* " : "", mean, margin), context);
}

Json to_json(const Separation& separation) {
  return {{"auroc", separation.auroc}, {"low", separation.low}, {"high", separation.high}};
}

Json to_json(const SyntheticModel& model) {
  return {{"accuracy", model.accuracy},
          {"final_loss", model.loss},
          {"entropy", to_json(model.entropy)},
          {"mutual_information", to_json(model.mutual_information)},
          {"differential_entropy", to_json(model.differential_entropy)}};
}

Json to_json(const SyntheticOptions& options) {
  return {{"sigmas", options.sigmas},
          {"hidden", options.hidden},
          {"points", options.points},
          {"batch", options.batch},
          {"epochs", options.epochs},
          {"learning_rate", options.learning_rate},
          {"input_scale", options.input_scale},
          {"divergence", options.divergence == Divergence::kForward ? "forward" : "reverse"},
          {"alpha0", options.alpha0},
          {"epsilon", 1.0 / options.alpha0},
          {"test_points", options.test_points},
          {"grid", options.grid}};
}

Json to_json(const SyntheticResult& result) {
  Json cases = Json::array();
  for (const auto& entry : result.cases)
    cases.push_back({{"sigma", entry.classes.sigma},
                     {"bayes_accuracy", entry.bayes_accuracy},
                     {"bayes_test_accuracy", entry.bayes_test_accuracy},
                     {"test_points_outside_region", entry.outside_share},
                     {"dnn", to_json(entry.dnn)},
                     {"dpn", to_json(entry.dpn)}});
  return {{"seed", result.options.seed}, {"cases", cases}};
}

}  // namespace

Table detection_table(const std::vector<SyntheticResult>& results) {
  Table table{"AUROC: in-distribution test points against points outside the data region",
              {"sigma", "model", "Entropy", "M.I.", "Diff. entropy"},
              {},
              {}};
  for (size_t i = 0; i < results.front().cases.size(); ++i) {
    for (const auto model : {&SyntheticCase::dnn, &SyntheticCase::dpn}) {
      const auto& entry = results.front().cases[i];
      table.add({Cell(fmt::format("{:g}", entry.classes.sigma)), Cell((entry.*model).name),
                 separation_cell(results, i, model, &SyntheticModel::entropy),
                 separation_cell(results, i, model, &SyntheticModel::mutual_information),
                 separation_cell(results, i, model, &SyntheticModel::differential_entropy)});
    }
  }
  const auto points = results.front().options.test_points;
  table.notes.push_back(results.size() == 1
                            ? fmt::format("± half a 95 % interval (DeLong); {} test points of each kind.", points)
                            : fmt::format("Mean ± standard deviation over {} seeds; {} test points of each kind.",
                                          results.size(), points));
  table.notes.emplace_back(
      "* The DNN's logits read as a Dirichlet's. Its precision is arbitrary: a constant added to the logits leaves "
      "every prediction as it is and changes these numbers.");
  return table;
}

Table accuracy_table(const std::vector<SyntheticResult>& results) {
  Table table{"Accuracy on in-distribution test points, in %",
              {"sigma", "Bayes-optimal", "Bayes, same points", "DNN", "DPN"},
              {},
              {}};
  for (size_t i = 0; i < results.front().cases.size(); ++i) {
    const auto percent = [&](auto&& value) { return Cell::number(100 * spread_of(results, i, value).mean, 2); };
    table.add({Cell(fmt::format("{:g}", results.front().cases[i].classes.sigma)),
               percent([](const SyntheticCase& entry) { return entry.bayes_accuracy; }),
               percent([](const SyntheticCase& entry) { return entry.bayes_test_accuracy; }),
               percent([](const SyntheticCase& entry) { return entry.dnn.accuracy; }),
               percent([](const SyntheticCase& entry) { return entry.dpn.accuracy; })});
  }
  table.notes.emplace_back(
      "Bayes-optimal: of the best possible classifier, exactly; beside it, what that classifier scores on the very "
      "points the networks are tested on.");
  return table;
}

namespace {

Json headlines_of(const std::vector<SyntheticResult>& results) {
  auto json = Json::array();
  const auto add = [&](size_t i, const char* label, ModelOf model, MeasureOf measure) {
    const auto spread =
        spread_of(results, i, [&](const SyntheticCase& entry) { return (entry.*model.*measure).auroc; });
    json.push_back(
        {{"text", fmt::format("{:.4f}", spread.mean)},
         {"label", fmt::format("AUROC of the {}, σ = {:g}", label, results.front().cases[i].classes.sigma)}});
  };
  for (size_t i = 0; i < results.front().cases.size(); ++i) {
    add(i, "DPN’s differential entropy", &SyntheticCase::dpn, &SyntheticModel::differential_entropy);
    add(i, "DPN’s entropy", &SyntheticCase::dpn, &SyntheticModel::entropy);
  }
  return json;
}

}  // namespace

std::string to_json(const std::vector<SyntheticResult>& results, const RunRecord& record) {
  Json seeds = Json::array();
  for (const auto& result : results) seeds.push_back(to_json(result));
  Json tables = Json::array();
  for (const auto& table : {detection_table(results), accuracy_table(results)})
    tables.push_back(Json::parse(store_table(table)));
  const Json json{{"experiment", "synthetic"},
                  {"title", "Ambiguous or unfamiliar?"},
                  {"lead",
                   "Three Gaussian classes in the plane, apart and overlapping: which uncertainty knows where the data "
                   "is? The synthetic experiment of the paper, section 5.1."},
                  {"headlines", headlines_of(results)},
                  {"tables", tables},
                  {"options", to_json(results.front().options)},
                  {"seeds", seeds},
                  {"run", Json::parse(to_json(record))}};
  return json.dump(2) + "\n";
}

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
