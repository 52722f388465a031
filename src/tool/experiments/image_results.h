#pragma once

#include <priornet/uncertainty/detection.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/experiments/image_run.h"

namespace priornet {

/// The probability that Student's t, with so many degrees of freedom, is at least as far from 0 as t; within 1e-11
/// of its value for up to 1,000 of them. ArgumentError unless degrees >= 1.
double student_two_sided(double t, double degrees);

/// The quantile 0.975 of Student's t distribution, to 1e-9 of its value. ArgumentError unless degrees >= 1.
double student_t(double degrees);

/// Whether two means differ, if the variances may do so too: Welch's test.
struct WelchTest {
  Estimate difference;   ///< of the means, first less second, with its 95 % interval
  double degrees = 0.0;  ///< of freedom, by Welch and Satterthwaite; 0 if neither varies
  /// Two-sided, of the hypothesis that the means are equal. If they differ and neither varies, that cannot be tested:
  /// it and the ends of the interval are NaN.
  double p_value = 1.0;
};

/// ArgumentError unless both have at least two values.
WelchTest welch_test(const std::vector<double>& first, const std::vector<double>& second);

/// The mean over seeds with its 95 % interval by Student's t, which may reach beyond 0 or 1; for a single seed its own
/// estimate. ArgumentError if there is none.
Estimate over_seeds(const std::vector<Estimate>& seeds);

/// The standard error of that mean; of a single seed its own, `error_of_one`.
double error_over_seeds(const std::vector<Estimate>& seeds, double error_of_one);

/// A model's evaluation on the set at this place of ImageResult::outside, of any model that has it; nullptr if none
/// has.
const OutsideEvaluation* any_evaluation(const std::vector<ImageResult>& seeds, size_t set);

enum class CellMetric { kError, kAuroc, kAupr };

/// "error", "AUROC", "AUPR".
const char* name_of(CellMetric metric);

/// One number of the tables, in percent, with the published one beside it.
struct ResultCell {
  std::string outside;  ///< title of the set; empty: of misclassification detection, or the error
  std::string model;
  double sigma = 0.0;
  CellMetric metric = CellMetric::kAuroc;
  size_t measure = 0;  ///< of kPaperMeasures; of the error 0
  Estimate ours;       ///< over the seeds
  std::optional<double> published;
  bool counted_apart = false;  ///< the published number is most likely that of another measure
};

/// Every cell that our runs have: those of kPaperMeasures that a model gives. One result per seed, of one experiment.
/// The interval of an error of a single seed is Wilson's.
std::vector<ResultCell> result_cells(const std::vector<ImageResult>& seeds);

/// The main results of an experiment: errors, and the AUROC of the differential entropy for each set.
std::vector<ResultCell> headline_cells(const std::vector<ImageResult>& seeds);

// Results that are read back, so that an experiment can be made in parts.

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
/// another experiment, profile, first seed or in-distribution set.
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
