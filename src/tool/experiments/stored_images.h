#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/experiments/image_run.h"

// Results that are read back, so that an experiment can be made in parts: rows of models that a run does not make are
// kept.

namespace priornet {

/// Where the numbers of a model come from.
struct ModelOrigin {
  std::string model;
  size_t seeds = 0;
  std::shared_ptr<const RunRecord> kept;  ///< the earlier run that they were kept from; none: they are of this run
};

/// "OE: 3 seeds, kept from commit 114dacb78971. DPN: 5 seeds." Empty if nothing was kept and every model has all seeds,
/// or one alone, as ensembles have.
std::string origins_note(const std::vector<ModelOrigin>& models);

/// "5 seeds", or "3 to 5 seeds" where models have different numbers of them; those with one alone are not counted
/// unless all are so: "1 seed".
std::string seeds_text(const std::vector<ModelOrigin>& models);
std::vector<ModelOrigin> origins_of(const std::vector<ImageResult>& seeds);

/// The runs that rows were kept from, each once.
std::vector<std::shared_ptr<const RunRecord>> kept_runs(const std::vector<ModelOrigin>& models);

/// Where the run of a kept row stands among them.
size_t place_of(const std::vector<std::shared_ptr<const RunRecord>>& runs, const RunRecord& record);

/// Which run wrote a results.json, and which its rows were kept from.
struct StoredRuns {
  RunRecord record;
  std::vector<std::shared_ptr<const RunRecord>> kept;
};

/// From the entry "run" of results.json.
StoredRuns parse_stored_runs(std::string_view json);

/// Remarks, once, why rows of a model that the run made are not kept.
void leave_out(std::vector<std::string>& remarks, const std::string& model, const RunRecord& record,
               const std::string& why);

/// For results.json, under "run": each of them with the models that it made.
std::string kept_json(const std::vector<ModelOrigin>& models);

/// Results of an experiment as to_json() wrote them (image_tables.h).
struct StoredImages {
  std::vector<ImageResult> seeds;    ///< one per seed, without scores and images
  RunRecord record;                  ///< of the run that wrote them
  std::vector<std::string> remarks;  ///< which rows are left out, and why
};

/// Reads FOLDER/results.json back, by the plan of today, whose first seed is given. Files of version 0.1 can be read
/// too. Rows of a model that the plan does not have, or whose recorded settings differ from the plan's, are left out.
/// Settings that only one of them has are not compared, nor are seeds, paths and checkpoints. DataError for a file of
/// another experiment that is not its kin (ImageExperiment), of another profile, first seed or in-distribution set.
StoredImages read_images(const std::filesystem::path& folder, const PlanOfSeed& plan, uint64_t first_seed);

/// The same of curves.json: `fresh` is what curves_json() made of the models of this run. Kept models keep the curves
/// that FOLDER/curves.json has of them; sets that they lack are empty there. `results` as with_kept_rows() gave them.
std::string with_kept_curves(const std::string& fresh, const std::filesystem::path& folder,
                             const std::vector<ImageResult>& results);

/// DataError, which names the file, unless both are the same: then its rows cannot be kept.
void refuse_other_results(const std::filesystem::path& file, const char* what, const std::string& there,
                          const std::string& here);

/// The settings in which two configurations differ, as text: "training.epochs: 120 there, 90 here"; else empty.
/// Compares as read_images().
std::string recorded_difference(const std::string& there, const std::string& here);

/// What OUT/results.json holds, if the options choose some models and the file is there. Throws as read_images().
std::optional<StoredImages> stored_rows(const PlanOfSeed& plan, const ExperimentOptions& options);

/// The new results, which have lost their scores, beside the stored rows of models that they do not choose. Every seed
/// then has all sets that some seed has, in the order of the plan.
std::vector<ImageResult> with_kept_rows(std::vector<ImageResult> results, StoredImages stored);

}  // namespace priornet
