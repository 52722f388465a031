#pragma once

#include <string>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/experiments/image_results.h"
#include "tool/experiments/image_run.h"
#include "tool/report/table.h"

// Tables that the paper does not have, from one result per seed.

namespace priornet {

/// One table per ensemble of Prior Networks: the mean of its data, distributional and model uncertainty on each set,
/// and how well each detects it.
std::vector<Table> uncertainty_tables(const std::vector<ImageResult>& seeds);

/// One table per planned comparison whose models are both here: AUROC of both on each out-of-distribution set, the
/// difference with its interval, and whether it may be chance. Several seeds are compared by Welch's test; where the
/// scores of both models were at hand, DeLong's paired test stands beside it, or alone if there is one seed.
std::vector<Table> comparison_tables(const std::vector<ImageResult>& seeds);

// The numbers of an image experiment, from one result per seed: ours, their interval, the published ones beside them.

/// For people: errors, misclassification, out-of-distribution detection by AUROC and by AUPR, one row per model and one
/// column per measure, the published cell in brackets; then paired comparisons, uncertainties in parts, and which
/// published cells are met or missed. For an experiment on noise AUROC alone, as in the paper.
std::vector<Table> image_tables(const std::vector<ImageResult>& seeds);

/// One row per cell: ours, the ends of its interval, the published one, the difference.
Table cell_table(const std::vector<ImageResult>& seeds);

/// Everything, as JSON (report/results_folder.h): tables, configurations, one entry per seed with every evaluation, the
/// cells, and under "run" how it was made. Apart from the times of training, "run" is the only part that differs
/// between two runs of the same options.
std::string to_json(const std::vector<ImageResult>& seeds, const RunRecord& record);

}  // namespace priornet
