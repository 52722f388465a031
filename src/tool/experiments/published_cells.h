#pragma once

#include <vector>

#include "tool/experiments/image_results.h"
#include "tool/report/table.h"

// How our cells stand to the published ones: the count, with its rule, and what is missed.

namespace priornet {

/// Published numbers are rounded to a decimal: within half of it they agree. web/report/src/comparison.js has the same
/// rule.
enum class Standing {
  kBetter,  ///< the whole 95 % interval lies beyond the published number
  kEqual,   ///< the interval holds it
  kWorse    ///< the interval does not reach it
};

/// ArgumentError for a cell without a published number.
Standing standing_of(const ResultCell& cell);

/// How many published cells are met or surpassed, by kind; those that are counted apart in a row of their own; the
/// rules below. No rows where nothing is published.
Table published_count(const std::vector<ResultCell>& cells);

/// A row per cell that is missed: ours with its interval, the published one, the difference.
Table published_misses(const std::vector<ResultCell>& cells, bool with_sigma);

}  // namespace priornet
