#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tool/report/table.h"

// What `reproduce` and `evaluate` leave for reports: results.json with tables and how it was run; curves.json,
// examples.json, images.json and maps.json beside it, as there are.

namespace priornet {

/// The folder that results are left in. Each file appears whole or not at all.
class OutputFolder {
 public:
  /// Makes the folder where needed and tries that it takes a file, so that hours of training do not end in a full
  /// stop. Throws DataError if it does not.
  explicit OutputFolder(std::filesystem::path path);

  void write(std::string_view name, std::string_view bytes);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::filesystem::path>& files() const { return files_; }

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
};

struct StoredResults {
  std::filesystem::path folder;
  std::string title;
  std::vector<Table> tables;
  std::string made_by;  ///< how it was run, in a sentence
  std::string
      document;  ///< JSON: results.json except for what each seed says, the folder's name, the other files by stem
};

/// Where an evaluation leaves its results: RUN/evaluation of a run's folder, MODEL.evaluation beside MODEL.priornet.
std::filesystem::path evaluation_folder(const std::filesystem::path& run_or_model);

/// The folders with a results.json: the folder itself, else its evaluation_folder(), else the same of what lies right
/// below it, in the order of their names; of a model file its evaluation_folder(). DataError if there is none.
std::vector<std::filesystem::path> folders_with_results(const std::filesystem::path& path);

/// DataError that names the file for one that cannot be read, is no JSON or has no tables.
StoredResults read_results(const std::filesystem::path& folder);

/// All tables as Markdown, then how it was run.
std::string to_markdown(const StoredResults& results);
std::string to_latex(const StoredResults& results);

}  // namespace priornet
