#include <fmt/format.h>
#include <priornet/experiments/outcome.h>
#include <priornet/experiments/output_folder.h>
#include <priornet/experiments/run_record.h>

#include <nlohmann/json.hpp>

namespace priornet {
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
    json["tables"].push_back(nlohmann::ordered_json::parse(to_json(table)));
  }
  json["run"] = nlohmann::ordered_json::parse(to_json(describe_run()));
  out.write("summary.md", markdown);
  out.write("summary.json", json.dump(2) + "\n");
  return out.files();
}

}  // namespace priornet
