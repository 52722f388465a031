#pragma once

#include <string>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/experiments/image_results.h"
#include "tool/experiments/image_run.h"
#include "tool/report/table.h"

// Tables that the paper does not have, from one result a seed.

namespace priornet {

/// A table an ensemble of Prior Networks: the mean of its data, distributional and model uncertainty on each set, and
/// how well each detects it.
std::vector<Table> uncertainty_tables(const std::vector<ImageResult>& seeds);

/// A table a planned comparison: AUROC of both models on each out-of-distribution set, the difference with its
/// interval, and whether it may be chance.
std::vector<Table> comparison_tables(const std::vector<ImageResult>& seeds);

// The numbers of an image experiment, from one result a seed: ours, their interval, the published ones beside them.

/// For people: errors, misclassification, out-of-distribution detection by AUROC and by AUPR, one row per model and
/// one column per measure, the published cell in brackets; then paired comparisons, uncertainties in parts, and which
/// published cells are met or missed. Of an experiment on noise AUROC alone, as the paper has it.
std::vector<Table> image_tables(const std::vector<ImageResult>& seeds);

/// A row a cell: ours, the ends of its interval, the published one, the difference.
Table cell_table(const std::vector<ImageResult>& seeds);

/// Everything, as JSON (report/results_folder.h): tables, configurations, one entry a seed with every evaluation, the
/// cells, and under "run" how it was made. Beside the times of training "run" is the only part that differs between two
/// runs of the same options.
std::string to_json(const std::vector<ImageResult>& seeds, const RunRecord& record);

}  // namespace priornet
