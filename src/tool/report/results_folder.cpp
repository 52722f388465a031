#include "tool/report/results_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "tool/report/table.h"

namespace priornet {
namespace {

namespace fs = std::filesystem;
using Document = nlohmann::ordered_json;

Document read_document(const fs::path& file) {
  try {
    return Document::parse(InputFile(file).read_rest());
  } catch (const Document::parse_error& error) {
    throw DataError(fmt::format("{}: should be JSON: {}", file.string(), error.what()));
  }
}

// False too where nobody may look, as in the folder of another user.
bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool has_results(const fs::path& folder) { return is_file(folder / "results.json"); }

std::string text_of(const Document& json, const char* key) {
  return json.contains(key) && json.at(key).is_string() ? json.at(key).get<std::string>() : std::string();
}

std::string seeds_of(const Document& results) {
  const auto seeds = results.find("seeds");
  if (seeds == results.end() || seeds->empty()) return "";
  const auto number = [](const Document& seed) { return seed.value("seed", uint64_t{0}); };
  if (seeds->size() == 1) return fmt::format(", seed {}", number(seeds->front()));
  return fmt::format(", seeds {} to {}", number(seeds->front()), number(seeds->back()));
}

std::string how_it_was_run(const Document& run, const std::string& seeds) {
  const auto accelerator = text_of(run, "accelerator");
  return fmt::format("`{}`{}; commit {}, LibTorch {}, {}, {:.0f} s.", text_of(run, "command"), seeds,
                     text_of(run, "commit"), text_of(run, "libtorch"),
                     accelerator.empty() ? text_of(run, "processor") : accelerator, run.value("seconds", 0.0));
}

std::string sentence(const Document& results) {
  if (!results.contains("run")) return "";
  const auto& run = results.at("run");
  auto text = how_it_was_run(run, seeds_of(results));
  for (const auto& kept : run.value("kept", Document::array())) {
    const auto models = kept.value("models", std::vector<std::string>());
    text += fmt::format(" Kept from before: {}, by {}", fmt::join(models, "; "), how_it_was_run(kept, ""));
  }
  return text;
}

std::string joined(const StoredResults& results, std::string (*render)(const Table&)) {
  std::string text;
  for (const auto& table : results.tables) {
    if (!text.empty()) text += '\n';
    text += render(table);
  }
  return text;
}

constexpr const char* kEvaluation = "evaluation";

/// The name of the results for a reader: several may have one title.
std::string name_of(const fs::path& folder) {
  auto path = fs::weakly_canonical(folder);
  if (path.filename() == kEvaluation) path = path.parent_path();
  if (path.extension() == std::string(".") + kEvaluation) path = path.stem();
  return path.filename().string();
}

bool is_run(const fs::path& folder) { return is_file(folder / "config.toml"); }

}  // namespace

OutputFolder::OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", path_.string(), error.message()));
  const AtomicFile probe(path_ / "results.json");  // never committed: leaves nothing behind
}

void OutputFolder::write(std::string_view name, std::string_view bytes) {
  AtomicFile file(path_ / name);
  file.write(bytes);
  file.commit();
  files_.push_back(path_ / name);
}

fs::path evaluation_folder(const fs::path& run_or_model) {
  if (!is_file(run_or_model)) return run_or_model / kEvaluation;
  auto beside = run_or_model;
  if (beside.extension() == ".priornet") return beside.replace_extension(kEvaluation);
  return beside += fmt::format(".{}", kEvaluation);  // photos.model is not photos.priornet
}

namespace {

fs::path results_of(const fs::path& of) {
  return has_results(of) ? of : has_results(evaluation_folder(of)) ? evaluation_folder(of) : fs::path();
}

}  // namespace

std::vector<fs::path> runs_without_results(const fs::path& path) {
  std::vector<fs::path> found;
  std::error_code error;
  if (!results_of(path).empty()) return found;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (is_run(entry.path()) && results_of(entry.path()).empty()) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> folders_with_results(const fs::path& path) {
  if (const auto here = results_of(path); !here.empty()) return {here};
  if (is_file(path) || is_run(path))
    throw DataError(
        fmt::format("{0}: was not evaluated yet: call priornet evaluate {0} --data SET --ood SET with sets that the "
                    "model did not learn from",
                    path.string()));
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (const auto there = results_of(entry.path()); !there.empty()) found.push_back(there);
  if (error) throw DataError(fmt::format("{}: cannot be read: {}", path.string(), error.message()));
  if (found.empty())
    throw DataError(fmt::format(
        "{}: holds no results: there should be a results.json, as priornet reproduce leaves in its folder and priornet "
        "evaluate in RUN/evaluation",
        path.string()));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()),
              found.end());  // a model file and its evaluation lie in one folder
  return found;
}

StoredResults read_results(const fs::path& folder) try {
  const auto file = folder / "results.json";
  auto json = read_document(file);
  if (!json.is_object() || !json.contains("tables") || !json.at("tables").is_array())
    throw DataError(
        fmt::format("{}: should hold \"tables\": an older priornet wrote it; run that command again", file.string()));
  StoredResults results;
  results.folder = folder;
  results.title = text_of(json, "title");
  for (const auto& table : json.at("tables")) results.tables.push_back(restore_table(json_text(table), file.string()));
  results.made_by = sentence(json);
  auto numbers = Document::array();
  if (json.contains("seeds"))
    for (const auto& seed : json.at("seeds")) numbers.push_back(seed.value("seed", uint64_t{0}));
  json["seeds"] = std::move(numbers);
  json.erase("cells");
  json["folder"] = name_of(folder);
  for (const auto* stem : {"curves", "examples", "images", "maps"}) {
    const auto beside = folder / fmt::format("{}.json", stem);
    if (is_file(beside)) json[stem] = read_document(beside);
  }
  results.document = json_text(json);
  return results;
} catch (const Document::exception& error) {  // a member of another type
  throw DataError(
      fmt::format("{}: should be as priornet writes it: {}", (folder / "results.json").string(), error.what()));
}

std::string to_markdown(const StoredResults& results) {
  return joined(results, to_markdown) + (results.made_by.empty() ? "" : "\n" + results.made_by + "\n");
}

std::string to_latex(const StoredResults& results) { return joined(results, to_latex); }

}  // namespace priornet
