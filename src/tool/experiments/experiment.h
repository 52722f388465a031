#pragma once

#include <priornet/learning/config.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/evaluation.h>
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

#include "learning/base/run_record.h"
#include "tool/report/model_report.h"
#include "tool/report/results_folder.h"
#include "tool/report/table.h"

// The configurations of the folder configs/, built in: an installed tool needs no source tree.

namespace priornet {

/// The names of all: "mnist-dpn" for configs/mnist-dpn.toml.
std::vector<std::string> recipe_names();

/// The configuration of that name, changed by overrides ("training.epochs=3"). ConfigError for an unknown name, and as
/// in read_config().
TrainConfig recipe(std::string_view name, const std::vector<std::string>& overrides = {});

/// Reads the results that were just written to the folder and adds the files made from them: table.md, table.tex and
/// report.html. Throws as read_results().
void write_report(OutputFolder& out);

/// Writes results.json, curves.json, examples.json and, for images, images.json where `priornet report` finds them
/// (evaluation_folder). Returns why that was not possible, such as a read-only place; empty if it was.
std::string leave_evaluation(const ModelReport& report, const EvaluatedSets& sets, const RunRecord& record);

// The paper's experiments, and some beyond it, by name. Each trains, measures, and leaves its results in a folder.

enum class Profile {
  kQuick,   ///< shortened: shows the effect, not the numbers
  kPaper,   ///< as the paper describes it
  kModern,  ///< the same question with today's recipe
};

struct ExperimentOptions {
  Profile profile = Profile::kPaper;
  std::optional<torch::Device> device;  ///< none: the experiment chooses
  uint64_t seed = 1;
  int64_t seeds = 1;          ///< runs with seed, seed + 1, ...; tables then give means and their spread
  std::string only;           ///< the models to train and evaluate, named as in tables, split by commas; empty: all
  std::filesystem::path out;  ///< made if it is not there
  std::string command;        ///< as the user gave it, for the record
  std::vector<std::string>
      overrides;               ///< of the configurations of all networks ("training.epochs=3"), where it has any
  std::function<bool()> stop;  ///< asked after each training step: leave a checkpoint and throw TrainingStopped
};

/// A main result of an experiment.
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

/// `priornet train CONFIG --out FOLDER` trains a network as the experiment would; the experiment then uses it.
struct TrainingCommand {
  std::filesystem::path config;
  std::filesystem::path folder;
  int64_t stage = 1;  ///< a network of a later stage learns from those of earlier ones
};

struct Experiment {
  std::string_view name;
  std::string_view description;
  std::function<ExperimentSummary(const ExperimentOptions& options, Progress& progress)> run;
  bool is_of_paper = true;  ///< otherwise it goes beyond the paper and has no profile of that name
  /// The networks that are still to be trained, teachers before students; empty if it has no configurations.
  std::function<std::vector<TrainingCommand>(const ExperimentOptions& options)> networks = {};
};

/// Every experiment, in the paper's order; then those beyond it.
std::span<const Experiment> experiments();

/// Throws ConfigError, listing the known names, for any other.
const Experiment& experiment_named(std::string_view name);

// Several experiments in one command: how each went.

struct ExperimentOutcome {
  std::string name;
  double seconds = 0.0;  ///< wall time
  ExperimentSummary summary;
  std::string error;  ///< why there is no summary; empty: there is one
};

/// The main results of all, beside the published ones; then the wall time of each, the sum, and what failed.
std::vector<Table> outcome_tables(const std::vector<ExperimentOutcome>& outcomes);

/// Writes both as FOLDER/summary.md and FOLDER/summary.json; their paths.
std::vector<std::filesystem::path> write_outcomes(const std::vector<ExperimentOutcome>& outcomes,
                                                  const std::string& command, const std::filesystem::path& folder);

}  // namespace priornet
