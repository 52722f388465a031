#pragma once

#include <priornet/uncertainty/detection.h>

#include <span>

// Whether two scores of the same rows put them into the same order, whatever their units.

namespace priornet {

/// Spearman's rank correlation: Pearson's of the ranks, rows that tie sharing the mean of theirs. Between -1 and 1; 1
/// where one score is a rising function of the other; NaN where all rows of one score tie. Infinities are values.
/// ArgumentError for fewer than 2 rows, different lengths, or NaN.
double spearman(std::span<const double> first, std::span<const double> second);

/// The same with its 95 % interval: the 2.5 and 97.5 % quantiles over replicates in which rows are drawn with
/// replacement, 1000 unless given. Replicates in which all rows of one score tie count as 0. ArgumentError also for
/// fewer than 2 replicates.
Estimate spearman_estimate(std::span<const double> first, std::span<const double> second,
                           const BootstrapOptions& options = {});

}  // namespace priornet
