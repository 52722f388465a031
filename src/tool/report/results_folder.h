#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tool/report/table.h"

// What `reproduce` and `evaluate` write for reports: results.json with tables and how it was run; beside it
// curves.json, examples.json, images.json and maps.json, if there are any.

namespace priornet {

/// The folder that results are left in. Each file appears whole or not at all.
class OutputFolder {
 public:
  /// Makes the folder if needed and checks that a file can be written there, so that hours of training are not lost at
  /// the end. Throws DataError if not.
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
      document;  ///< JSON: results.json without the entries per seed, the folder's name, the other files by stem
};

/// Where an evaluation writes its results: RUN/evaluation for a run's folder, photos.evaluation beside photos.priornet.
/// For a model file with another ending, its whole name and .evaluation.
std::filesystem::path evaluation_folder(const std::filesystem::path& run_or_model);

/// The folders with a results.json: the folder itself, else its evaluation_folder(), else the same for the folders
/// right below it, in the order of their names; for a model file its evaluation_folder(). DataError if there is none.
std::vector<std::filesystem::path> folders_with_results(const std::filesystem::path& path);

/// The runs in a folder of runs that were not evaluated yet, so that folders_with_results() passes over them.
std::vector<std::filesystem::path> runs_without_results(const std::filesystem::path& path);

/// DataError that names the file if it cannot be read, is not JSON or has no tables.
StoredResults read_results(const std::filesystem::path& folder);

/// All tables as Markdown, then how it was run.
std::string to_markdown(const StoredResults& results);
std::string to_latex(const StoredResults& results);

}  // namespace priornet
