#pragma once

#include <priornet/learning/progress.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tool/report/table.h"

// The paper's experiments, and some beyond it, by name. Each trains, measures, and leaves its results in a folder.

namespace priornet {

enum class Profile {
  kQuick,   ///< shortened: shows the effect, not the numbers
  kPaper,   ///< as the paper describes it
  kModern,  ///< the same question with today's recipe
};

struct ExperimentOptions {
  Profile profile = Profile::kPaper;
  std::optional<torch::Device> device;  ///< none: the experiment takes what suits it
  uint64_t seed = 1;
  int64_t seeds = 1;          ///< runs with seed, seed + 1, ...; tables then give means and their spread
  std::filesystem::path out;  ///< made if it is not there
  std::string command;        ///< as the user gave it, for the record
  std::vector<std::string>
      overrides;               ///< of the configurations of all networks ("training.epochs=3"), where it has any
  std::function<bool()> stop;  ///< asked after each training step: leave a checkpoint and throw TrainingStopped
};

/// A number that an experiment stands for.
struct Headline {
  std::string what;   ///< "DPN: AUROC by D.Ent. against SVHN, %"
  std::string value;  ///< with its interval
  std::optional<double> published;
};

struct ExperimentSummary {
  std::vector<Table> tables;
  std::vector<std::filesystem::path> files;  ///< what was written
  std::vector<std::string> remarks;          ///< what the user should know, such as figures left out
  std::vector<Headline> headlines;           ///< for the summary of several experiments
};

struct Experiment {
  std::string_view name;
  std::string_view description;
  ExperimentSummary (*run)(const ExperimentOptions& options, Progress& progress);
  bool is_of_paper = true;  ///< else it goes beyond the paper and has no profile of that name
};

/// Every experiment, in the paper's order; then those beyond it.
std::span<const Experiment> experiments();

/// Throws ConfigError, listing the known names, for any other.
const Experiment& find_experiment(std::string_view name);

// Several experiments in one command: how each went.

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
