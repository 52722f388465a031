#pragma once

#include <priornet/experiments/result_cells.h>
#include <priornet/experiments/run_record.h>
#include <priornet/report/table.h>

#include <string>
#include <vector>

// The numbers of an image experiment, from one result a seed: ours, their interval, the published ones beside them.

namespace priornet {

/// For people: errors, misclassification, out-of-distribution detection by AUROC and by AUPR, a row a model and a
/// column a measure, the published cell in brackets; then the further ones (further_tables.h). Of an experiment on
/// noise AUROC alone, as the paper has it.
std::vector<Table> image_tables(const std::vector<ImageResult>& seeds);

/// A row a cell: ours, the ends of its interval, the published one, the difference.
Table cell_table(const std::vector<ImageResult>& seeds);

/// Everything, as JSON (report/results_folder.h): tables, configurations, one entry a seed with every evaluation, the
/// cells, and under "run" how it was made. Beside the times of training "run" is the only part that differs between two
/// runs of the same options.
std::string to_json(const std::vector<ImageResult>& seeds, const RunRecord& record);

}  // namespace priornet
