#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/load_set.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "tool/audit/set_comparison.h"
#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

// More features than this are for --json; the strongest are shown.
constexpr size_t kStatisticsShown = 20;

struct CompareOptions {
  std::string in;
  std::string out;
  std::string resample = "bilinear";
  bool no_antialias = false;
  bool invert = false;
  bool json = false;
  int64_t limit = 0;
  std::filesystem::path root;
};

const std::map<std::string, Resampling> kResampling(kResamplingNames.begin(), kResamplingNames.end());

// If a set is sorted by class, takes rows from all over it.
Dataset limited(const Dataset& set, int64_t limit) {
  if (limit == 0 || set.size() <= limit) return set;
  return select(set, (torch::arange(limit, torch::kInt64) * set.size()).div(limit, "floor"));
}

// If `like` is a table, the columns become numbers as its columns do.
Dataset loaded(const std::string& name, const CompareOptions& options, const Dataset& like = {}) {
  TerminalProgress progress;
  LoadOptions load{chosen_root(options.root), true, &progress};
  load.encoding = like.encoding;
  return limited(load_set(name, load), options.limit);
}

std::string listed(const std::vector<double>& values) {
  constexpr size_t kShown = 4;
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) texts.push_back(fmt::format("{:.3f}", values[i]));
  if (values.size() > kShown) texts.emplace_back("...");
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string sets_as_text(const SetComparison& comparison) {
  Table table;
  table.columns = {"", "set", "inputs", "shape", "mean", "deviation", "classes"};
  for (const auto& [role, set] : {std::pair("IN", &comparison.in), std::pair("OUT", &comparison.out)})
    table.add({role, set->name, Cell::number(static_cast<double>(set->size), 0),
               fmt::format("{}", fmt::join(set->shape, "x")), listed(set->means), listed(set->deviations),
               Cell::number(static_cast<double>(set->num_classes), 0)});
  return fmt::format("{}\n{:.2f} % of the inputs are of OUT{}{}\n", to_text(table), 100 * comparison.prevalence,
                     comparison.matching.empty() ? "" : "; OUT matched to IN: " + comparison.matching,
                     comparison.out_was_inverted ? "; OUT inverted" : "");
}

std::string statistics_as_text(const SetComparison& comparison) {
  auto statistics = comparison.statistics;
  std::stable_sort(statistics.begin(), statistics.end(),
                   [](const auto& a, const auto& b) { return a.auroc > b.auroc; });
  Table table;
  table.columns = {"statistic", "AUROC %", "higher in", "median of IN", "median of OUT"};
  if (!comparison.inverted_statistics.empty()) table.columns.emplace_back("AUROC %, OUT inverted");
  for (size_t i = 0; i < std::min(statistics.size(), kStatisticsShown); ++i) {
    const auto& statistic = statistics[i];
    std::vector<Cell> row{statistic.name, Cell::number(100 * statistic.auroc, 2),
                          statistic.auroc == 0.5    ? "-"
                          : statistic.out_is_higher ? "OUT"
                                                    : "IN",
                          Cell::number(statistic.in_median, 4), Cell::number(statistic.out_median, 4)};
    for (const auto& inverted : comparison.inverted_statistics)
      if (inverted.name == statistic.name) row.push_back(Cell::number(100 * inverted.auroc, 2));
    table.add(std::move(row));
  }
  auto text = to_text(table);
  if (statistics.size() > kStatisticsShown)
    text += fmt::format("and {} weaker ones\n", statistics.size() - kStatisticsShown);
  return text;
}

std::string as_text(const SetComparison& comparison) {
  auto text = fmt::format("{}\n{}\n", sets_as_text(comparison), statistics_as_text(comparison));
  for (const auto& sentence : verdict(comparison)) text += fmt::format("- {}\n", sentence);
  return text;
}

void run(const CompareOptions& options) {
  const auto in = loaded(options.in, options);
  const auto out = loaded(options.out, options, in);
  const auto comparison =
      compare_sets(in, out,
                   {.fit = {.resampling = kResampling.at(options.resample), .antialias = !options.no_antialias},
                    .invert_out = options.invert});
  print(options.json ? to_json(comparison) : as_text(comparison));
}

}  // namespace

void describe_data_compare(Command& command) {
  const auto options = std::make_shared<CompareOptions>();
  std::vector<std::string> resampling;
  for (const auto& [name, how] : kResamplingNames) resampling.emplace_back(name);
  command.options = {
      {.name = "IN", .to = &options->in, .help = "The in-distribution set: a name, or a path", .required = true},
      {.name = "OUT",
       .to = &options->out,
       .help = "The out-of-distribution set; it is brought to the size and channels of IN",
       .required = true},
      {.name = "--invert", .to = &options->invert, .help = "Exchange light and dark in OUT"},
      {.name = "--resample",
       .to = &options->resample,
       .help = "How OUT is resized to IN's size: nearest, bilinear or bicubic",
       .shows_default = true,
       .choices = resampling},
      {.name = "--no-antialias",
       .to = &options->no_antialias,
       .help = "Do not average pixels when images become smaller"},
      {.name = "--limit",
       .to = &options->limit,
       .help = "Compare at most this many inputs of each set, evenly spread",
       .range = kPositive},
      root_option(options->root),
      {.name = "--json", .to = &options->json, .help = "Print JSON with all digits"}};
  command.notes =
      "The AUROC of a statistic says how well this statistic alone tells the sets apart: 50 is chance, 100 is "
      "certainty.\n"
      "The highest one should stand beside every OOD result on these sets.";
  command.examples = {"priornet data compare mnist:test omniglot",
                      "priornet data compare cifar10:test tinyimagenet:val,without=cifar10"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
