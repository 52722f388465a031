#pragma once

#include <priornet/experiments/image_run.h>
#include <priornet/report/table.h>

#include <vector>

// Tables that the paper does not have, from one result a seed.

namespace priornet {

/// A table an ensemble of Prior Networks: the mean of its data, distributional and model uncertainty on each set, and
/// how well each detects it.
std::vector<Table> uncertainty_tables(const std::vector<ImageResult>& seeds);

/// A table a planned comparison: AUROC of both models on each out-of-distribution set, the difference with its
/// interval, and whether it may be chance.
std::vector<Table> comparison_tables(const std::vector<ImageResult>& seeds);

}  // namespace priornet
