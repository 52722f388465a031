#pragma once

#include <priornet/experiments/experiment.h>

#include <filesystem>
#include <string>
#include <vector>

// Several experiments in one command: how each went.

namespace priornet {

struct ExperimentOutcome {
  std::string name;
  double seconds = 0.0;  ///< wall time
  ExperimentSummary summary;
  std::string error;  ///< why there is no summary; empty: there is one
};

/// The headlines of all, beside what was published; then the wall time of each, in all, and what failed.
std::vector<Table> outcome_tables(const std::vector<ExperimentOutcome>& outcomes);

/// Writes both as FOLDER/summary.md and FOLDER/summary.json; their paths.
std::vector<std::filesystem::path> write_outcomes(const std::vector<ExperimentOutcome>& outcomes,
                                                  const std::string& command, const std::filesystem::path& folder);

}  // namespace priornet
