#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/columns.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "learning/data/csv.h"
#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

using Columns = std::vector<NamedTensor>;

struct DetectOptions {
  std::string positive;
  std::string negative;
  std::string score;
  bool negate = false;
  bool json = false;
  std::string out;
  BootstrapOptions bootstrap;
};

struct Pair {
  std::string name;
  torch::Tensor positive;
  torch::Tensor negative;
};

struct Result {
  std::string name;
  bool negated;
  Detection detection;
};

const NamedTensor* find(const Columns& columns, const std::string& name) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

std::string names_of(const Columns& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name.empty() ? "one without a name" : column.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Without --score, columns of texts, such as predictions, are no scores.
Columns score_columns(const std::string& file, const DetectOptions& options) {
  std::vector<std::string> texts;
  auto columns = read_columns(file, options.score, options.score.empty() ? &texts : nullptr);
  if (!texts.empty()) note(fmt::format("{}: not scores, but texts: {}", file, fmt::join(texts, ", ")));
  return columns;
}

std::vector<Pair> score_pairs(const DetectOptions& options) {
  const auto positive = score_columns(options.positive, options);
  const auto negative = score_columns(options.negative, options);
  // A single column without a name matches the single column of the other file, whatever its name.
  if (positive.size() == 1 && negative.size() == 1 && (positive[0].name.empty() || negative[0].name.empty()))
    return {{positive[0].name + negative[0].name, positive[0].values, negative[0].values}};
  std::vector<Pair> pairs;
  for (const auto& [name, values] : positive) {
    const auto* other = find(negative, name);
    const bool ranks = is_score(name) && name != "row";  // which `predict` counts
    if (other != nullptr && (ranks || name == options.score)) pairs.push_back({name, values, other->values});
  }
  if (pairs.empty())
    throw DataError(fmt::format("{} and {} share no score column: the first has {}; the second has {}",
                                options.positive, options.negative, names_of(positive), names_of(negative)));
  return pairs;
}

// As doubles, in the direction the user asked for.
torch::Tensor prepared(const torch::Tensor& values, bool negated) {
  const auto scores = values.to(torch::kFloat64).contiguous();
  return negated ? scores.neg() : scores;
}

void check_set(const std::string& path, std::string_view set, const std::string& name, std::span<const double> scores) {
  if (scores.empty()) throw DataError(fmt::format("{}: holds no scores: the {} set is empty", path, set));
  const auto nan = std::find_if(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
  if (nan == scores.end()) return;
  const auto row = nan - scores.begin();
  throw DataError(fmt::format("{}: {}[{}] is nan: row {} (counted from 0) should be a number", path,
                              name.empty() ? "score" : name, row, row));
}

// The measures' own, and what `predict` writes beside them.
bool says_confidence(const std::string& score) {
  return is_confidence(score) || score == "probability" || score == "p_value";
}

Result detected(const Pair& pair, const DetectOptions& options) {
  const bool negated = says_confidence(pair.name) != options.negate;
  const auto positive = prepared(pair.positive, negated);
  const auto negative = prepared(pair.negative, negated);
  check_set(options.positive, "positive", pair.name, span_of(positive));
  check_set(options.negative, "negative", pair.name, span_of(negative));
  return {pair.name, negated, detect({span_of(positive), span_of(negative)}, options.bootstrap)};
}

Cell shown(const Estimate& estimate) {
  return Cell::number(estimate.value, fmt::format("{:.2f} [{:.2f}, {:.2f}]", 100 * estimate.value, 100 * estimate.low,
                                                  100 * estimate.high));
}

std::string as_text(const std::vector<Result>& results, const DetectOptions& options) {
  Table table;
  table.columns = {"score", "AUROC %", "AUPR %", "average precision %", "FPR95 %"};
  std::string notes;
  for (const auto& [name, negated, d] : results) {
    const auto label = name.empty() ? std::string("score") : name;
    table.add({label, shown(d.auroc), shown(d.aupr), shown(d.average_precision), shown(d.fpr95)});
    if (says_confidence(name) && negated) notes += fmt::format("{} is a confidence: negated\n", label);
    if (says_confidence(name) && !negated)
      notes += fmt::format("{} is a confidence: taken unchanged (--negate)\n", label);
    if (!says_confidence(name) && negated) notes += fmt::format("{}: negated (--negate)\n", label);
  }
  const auto& first = results.front().detection;
  return fmt::format(
      "{}\n{} positives, {} negatives: prevalence {:.2f} %\n"
      "95 % intervals: DeLong for AUROC; bootstrap, {} replicates, seed {}, for the others\n{}",
      to_text(table), first.positives, first.negatives, 100 * first.prevalence, first.replicates,
      options.bootstrap.seed, notes);
}

std::string as_json(const std::vector<Result>& results, const DetectOptions& options) {
  nlohmann::ordered_json json = {
      {"positive", options.positive}, {"negative", options.negative}, {"seed", options.bootstrap.seed}};
  for (const auto& [name, negated, d] : results)
    json["scores"].push_back({{"score", name},
                              {"negated", negated},
                              {"positives", d.positives},
                              {"negatives", d.negatives},
                              {"prevalence", d.prevalence},
                              {"replicates", d.replicates},
                              {"auroc", estimate_json(d.auroc)},
                              {"aupr", estimate_json(d.aupr)},
                              {"aupr_balanced", estimate_json(d.aupr_balanced)},
                              {"average_precision", estimate_json(d.average_precision)},
                              {"fpr95", estimate_json(d.fpr95)}});
  return json_text(json, 2) + "\n";
}

std::string as_csv(const std::vector<Result>& results) {
  std::string text = "score,negated,positives,negatives,prevalence,replicates";
  for (const auto* metric : {"auroc", "aupr", "average_precision", "fpr95", "aupr_balanced"})
    text += fmt::format(",{0},{0}_low,{0}_high", metric);
  for (const auto& [name, negated, d] : results) {
    text += fmt::format("\n{},{},{},{},{},{}", csv_field(name), negated ? 1 : 0, d.positives, d.negatives, d.prevalence,
                        d.replicates);
    for (const auto& estimate : {d.auroc, d.aupr, d.average_precision, d.fpr95, d.aupr_balanced})
      text += fmt::format(",{},{},{}", estimate.value, estimate.low, estimate.high);
  }
  return text + "\n";
}

void write(const std::vector<Result>& results, const DetectOptions& options) {
  AtomicFile file(options.out);
  file.write(lower_case(options.out).ends_with(".csv") ? as_csv(results) : as_json(results, options));
  file.commit();
}

void run(const DetectOptions& options) {
  refuse_to_overwrite(options.out, {options.positive, options.negative});
  std::vector<Result> results;
  for (const auto& pair : score_pairs(options)) results.push_back(detected(pair, options));
  if (!options.out.empty()) write(results, options);
  print(options.json ? as_json(results, options) : as_text(results, options));
}

}  // namespace

void describe_detect(Command& command) {
  const auto options = std::make_shared<DetectOptions>();
  command.options = {
      {.name = "--positive",
       .to = &options->positive,
       .help = "Scores of the positives: .csv, .npz or .npy",
       .required = true},
      {.name = "--negative",
       .to = &options->negative,
       .help = "Scores of the negatives: .csv, .npz or .npy",
       .required = true},
      {.name = "--score",
       .to = &options->score,
       .help = "The column to use; by default every score column that both files have"},
      {.name = "--negate",
       .to = &options->negate,
       .help = "Reverse the direction. By default a higher score means positive, except for confidences (max_prob, "
               "precision), which are negated"},
      {.name = "--replicates",
       .to = &options->bootstrap.replicates,
       .help = "Replicates of the bootstrap; by default 1000, above a million scores 200",
       .range = whole_range(2, 1000000)},
      {.name = "--seed", .to = &options->bootstrap.seed, .help = "Seed of the bootstrap", .shows_default = true},
      {.name = "--json", .to = &options->json, .help = "Print JSON with all digits"},
      {.name = "--out",
       .to = &options->out,
       .help = "Also write the result, with all digits, to this file: .json or .csv",
       .endings = {".json", ".csv"}}};
  command.notes =
      "Metrics: area under the ROC curve, area under the precision-recall curve by trapezoids (AUPR) and by steps\n"
      "(average precision), false positive rate at 95 % true positive rate (FPR95).";
  command.examples = {"priornet detect --positive ood.csv --negative test.csv --score differential_entropy"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
