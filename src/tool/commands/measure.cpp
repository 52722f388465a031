#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/columns.h>
#include <priornet/learning/logits.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

using Columns = std::vector<NamedTensor>;

struct MeasureOptions {
  std::vector<std::string> logits;
  std::string kind;
  std::string array;
  std::string out;
  bool json = false;
  MuThetaOptions estimate;
};

Columns measured(const torch::Tensor& logits, const MeasureOptions& options) {
  const bool ensemble = logits.dim() == 3;
  const auto refuse = [&](std::string_view wanted) {
    throw DataError(fmt::format("{}: --kind {} needs {}, found shape [{}]", options.logits.front(), options.kind,
                                wanted, fmt::join(logits.sizes().begin(), logits.sizes().end(), ", ")));
  };
  if (options.kind == "softmax" && ensemble) refuse("[N, K] of one model (for [M, N, K] use --kind ensemble)");
  if (options.kind == "ensemble" && !ensemble) refuse("[M, N, K], or one file [N, K] per member");
  const bool dirichlet = options.kind.empty() || options.kind == "dirichlet";
  auto columns = measure_columns(logits, dirichlet ? LogitKind::kDirichlet : LogitKind::kSoftmax, options.estimate);
  if (dirichlet) return columns;  // the precision says the same
  const auto energy = -torch::logsumexp(logits, -1);
  columns.push_back({"energy", ensemble ? energy.mean(0) : energy});
  return columns;
}

struct Summary {
  double mean, min, median, max;
};

Summary summary_of(const torch::Tensor& column) {
  const auto sorted = std::get<0>(column.to(torch::kFloat64).sort());
  const auto n = sorted.size(0);
  const auto at = [&](int64_t i) { return sorted[i].item<double>(); };
  return {sorted.mean().item<double>(), at(0), (at((n - 1) / 2) + at(n / 2)) / 2, at(n - 1)};
}

std::string summary_text(const Columns& columns, const MeasureOptions& options) {
  Table table;
  table.columns = {"measure", "mean", "min", "median", "max"};
  for (const auto& [name, values] : columns) {
    if (!is_score(name)) continue;
    const auto [mean, min, median, max] = summary_of(values);
    std::vector<Cell> row{name};
    for (const double value : {mean, min, median, max})
      row.push_back(Cell::number(value, fmt::format("{:.5g}", value)));
    table.add(std::move(row));
  }
  return fmt::format("{}\n{} rows written to {}\n", to_text(table), columns.front().values.size(0), options.out);
}

std::string summary_json(const Columns& columns, const MeasureOptions& options) {
  nlohmann::ordered_json result = {{"out", options.out}, {"rows", columns.front().values.size(0)}};
  for (const auto& [name, values] : columns) {
    if (!is_score(name)) continue;
    const auto [mean, min, median, max] = summary_of(values);
    result["measures"][name] = {{"mean", mean}, {"min", min}, {"median", median}, {"max", max}};
  }
  return json_text(result, 2) + "\n";
}

void run(const MeasureOptions& options) {
  refuse_to_overwrite(options.out, options.logits);
  const auto logits = read_logits({options.logits.begin(), options.logits.end()}, {.array = options.array});
  for (const auto& doubt : doubts_about_logits(logits)) warn(fmt::format("{}: {}", options.logits.front(), doubt));
  if (options.kind.empty())
    note(
        "--kind was not given: the logits are taken as those of Dirichlets, alpha = exp(logits); for a plain "
        "classifier give --kind softmax");
  const auto columns = measured(logits, options);
  if (!options.out.empty()) {
    write_columns(options.out, columns);
    print(options.json ? summary_json(columns, options) : summary_text(columns, options));
  } else if (options.json) {
    write_columns_json(print, columns);
  } else {
    write_columns_csv(print, columns);
  }
}

}  // namespace

void describe_measure(Command& command) {
  const auto options = std::make_shared<MeasureOptions>();
  command.options = {
      {.name = "LOGITS",
       .to = &options->logits,
       .help = "Logits as .npy, .npz, .safetensors or .csv: [N, K], or [M, N, K] for an ensemble; several files are "
               "the members of one",
       .required = true},
      {.name = "--kind",
       .to = &options->kind,
       .help = "What the logits are: dirichlet (alpha = exp logits), softmax, or ensemble (of softmax members). If it "
               "is not given, the tool assumes dirichlet and says so",
       .choices = {"dirichlet", "softmax", "ensemble"}},
      {.name = "--array",
       .to = &options->array,
       .help = "The array in an .npz or .safetensors file; by default the only one, or the one with the name logits"},
      {.name = "--out",
       .to = &options->out,
       .help =
           "Write the measures to this file (.csv, .json or .npz) and print a summary; by default print them as CSV",
       .endings = {".csv", ".json", ".npz"}},
      {.name = "--json", .to = &options->json, .help = "Print JSON"},
      {.name = "--mu-theta-samples",
       .to = &options->estimate.samples,
       .help = "For several Dirichlets per input: draws from each for the estimate of I[mu, theta]",
       .shows_default = true,
       .range = whole_range(2, 1 << 30),
       .older_name = "--samples"},
      {.name = "--seed", .to = &options->estimate.seed, .help = "Seed of those draws", .shows_default = true}};
  command.examples = {"priornet measure logits.npy --out measures.csv",
                      "priornet measure member1.npy member2.npy --kind ensemble"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
