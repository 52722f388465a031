#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/report/table.h"

// What `reproduce` and `evaluate` leave for reports: results.json with tables and how it was run; curves.json,
// images.json and maps.json beside it, as there are.

namespace priornet {

struct StoredResults {
  std::filesystem::path folder;
  std::string title;
  std::vector<Table> tables;
  std::string made_by;   ///< how it was run, in a sentence
  std::string document;  ///< JSON: results.json but for what each seed says, the folder's name, the other files by stem
};

/// The folders with a results.json: the folder itself, else its folder `evaluation`, else the same of those right below
/// it, in the order of their names. DataError if there is none.
std::vector<std::filesystem::path> folders_with_results(const std::filesystem::path& folder);

/// DataError that names the file for one that cannot be read, is no JSON or has no tables.
StoredResults read_results(const std::filesystem::path& folder);

/// All tables as Markdown, then how it was run.
std::string to_markdown(const StoredResults& results);
std::string to_latex(const StoredResults& results);

}  // namespace priornet
