#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/catalogue.h>
#include <priornet/learning/store.h>
#include <priornet/uncertainty/errors.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/downloads/verify.h"

namespace priornet::tool {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> names;
  std::string root;
  bool json = false;
};

struct Result {
  std::string name;
  std::vector<Finding> findings;

  bool is_whole() const {
    return std::all_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.fault.empty(); });
  }
};

std::vector<Result> verified(const Options& options, const std::filesystem::path& root) {
  std::vector<const CatalogueEntry*> entries;
  for (const auto& name : options.names) entries.push_back(&find_entry(name));
  if (options.names.empty())
    for (const auto& entry : catalogue()) entries.push_back(&entry);
  TerminalProgress progress;
  std::vector<Result> results;
  for (const auto* entry : entries) {
    Result result{entry->name, verify_set(*entry, root, progress)};
    if (result.findings.empty() && options.names.empty()) continue;
    if (result.findings.empty())
      result.findings.push_back({entry->name, fmt::format("is not below {}", root.string()), ""});
    results.push_back(std::move(result));
  }
  return results;
}

std::string as_text(const std::vector<Result>& results, const std::filesystem::path& root) {
  if (results.empty()) return fmt::format("There is no data set below {}.\n", root.string());
  std::string text;
  for (const auto& result : results) {
    text += fmt::format("{}: {}\n", result.name, result.is_whole() ? "whole" : "NOT WHOLE");
    for (const auto& [what, fault, note] : result.findings)
      text += fmt::format("  {}: {}{}\n", what, fault.empty() ? "right" : fault, note.empty() ? "" : " (" + note + ")");
  }
  return text;
}

std::string as_json(const std::vector<Result>& results) {
  auto json = Json::array();
  for (const auto& result : results) {
    Json findings = Json::array();
    for (const auto& [what, fault, note] : result.findings)
      findings.push_back({{"what", what}, {"right", fault.empty()}, {"fault", fault}, {"note", note}});
    json.push_back({{"name", result.name}, {"whole", result.is_whole()}, {"findings", findings}});
  }
  return json.dump(2) + "\n";
}

void run(const Options& options) {
  const auto root = options.root.empty() ? data_root() : std::filesystem::path(options.root);
  const auto results = verified(options, root);
  print(options.json ? as_json(results) : as_text(results, root));
  std::vector<std::string> wrong;
  for (const auto& result : results)
    if (!result.is_whole()) wrong.push_back(result.name);
  if (!wrong.empty()) throw DataError(fmt::format("not whole, or not as published: {}", fmt::join(wrong, ", ")));
}

}  // namespace

void describe_data_verify(Command& command) {
  const auto options = std::make_shared<Options>();
  command.options = {
      {.name = "names", .to = &options->names, .help = "Which sets; all that are there if none is named"},
      {.name = "--root", .to = &options->root, .help = "The data root; else PRIORNET_DATA and its defaults"},
      {.name = "--json", .to = &options->json, .help = "Print JSON"}};
  command.notes =
      "Every part of a set that is there is also read from its original files, and counted. Exit status 1 if anything\n"
      "is wrong.";
  command.examples = {"priornet data verify mnist cifar10"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
