#pragma once

#include <vector>

#include "tool/experiments/image_results.h"
#include "tool/report/table.h"

// How our cells compare with the published ones: the count, with its rule, and the missed cells.

namespace priornet {

/// Published numbers are rounded to one decimal: within half of it they agree. web/report/src/comparison.js has the
/// same rule.
enum class Standing {
  kBetter,  ///< the whole 95 % interval lies beyond the published number
  kEqual,   ///< the interval holds it
  kWorse    ///< the interval does not reach it
};

/// ArgumentError for a cell without a published number.
Standing standing_of(const ResultCell& cell);

/// How many published cells are met or surpassed, by kind; those that are counted apart have a row of their own; the
/// rules below. No rows if nothing is published.
Table published_count(const std::vector<ResultCell>& cells);

/// One row per missed cell: ours with its interval, the published one, the difference.
Table published_misses(const std::vector<ResultCell>& cells, bool with_sigma);

}  // namespace priornet
