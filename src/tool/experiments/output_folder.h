#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/evaluation.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "learning/base/run_record.h"

namespace priornet {

/// The folder an experiment leaves its results in. Each file appears whole or not at all.
class OutputFolder {
 public:
  /// Makes the folder where needed and tries that it takes a file, so that hours of training do not end in a full
  /// stop. Throws DataError where it does not.
  explicit OutputFolder(std::filesystem::path path);

  void write(std::string_view name, std::string_view bytes);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::filesystem::path>& files() const { return files_; }

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
};

/// Reads the results that were just written to the folder and adds what follows from them: table.md, table.tex and
/// report.html. What read_results throws.
void write_report(OutputFolder& out);

/// The sets of an evaluation, in its order.
struct EvaluatedSets {
  const Dataset& inside;
  const std::vector<Dataset>& outside;
};

/// Leaves results.json, curves.json and, of images, images.json in RUN/evaluation, where `priornet report RUN` finds
/// them. A run that may only be read is left as it is.
void leave_evaluation(const EvaluationReport& report, const EvaluatedSets& sets, const RunRecord& record);

}  // namespace priornet
