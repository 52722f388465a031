#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/catalogue.h>
#include <priornet/learning/store.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "learning/sets/prepared_copy.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Options {
  std::string root;
  bool json = false;
};

bool has_copy(const CatalogueEntry& entry, const SetPart& part, const fs::path& root) {
  return fs::exists(prepared_copy_file(root, copy_name(entry, part, part.resize)));
}

bool is_there(const CatalogueEntry& entry, const Split& split, const fs::path& root) {
  return std::all_of(split.rows.begin(), split.rows.end(), [&](const PartRows& rows) {
    const auto& part = find_part(entry, rows.part);
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
  return fmt::format("{}{}\nData root: {}. priornet data get NAME gets what is not there.\n", to_text(table), details,
                     root.string());
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
  return json.dump(2) + "\n";
}

void run(const Options& options) {
  const auto root = options.root.empty() ? data_root() : fs::path(options.root);
  print(options.json ? as_json(root) : as_text(root));
}

}  // namespace

void describe_data_list(Command& command) {
  const auto options = std::make_shared<Options>();
  command.options = {
      {.name = "--root", .to = &options->root, .help = "The data root; else PRIORNET_DATA and its defaults"},
      {.name = "--json",
       .to = &options->json,
       .help = "Print JSON, with the files of each set, their sizes and checksums"}};
  command.examples = {"priornet data list"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
