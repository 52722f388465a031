#pragma once

#include <priornet/data/arrays/named_tensor.h>

#include <string>
#include <vector>

namespace priornet {

/// How well one number an input tells two sets apart, whichever way round.
struct StatisticAuroc {
  std::string name;
  double auroc = 0.5;         ///< max(a, 1 - a), in [0.5, 1], with a the AUROC of the number for OUT
  bool out_is_higher = true;  ///< a >= 0.5: OUT's numbers are the higher ones
  double in_median = 0;       ///< the lower one of two
  double out_median = 0;
};

/// Of the same statistics of both sets, float64 [N] and [M]. A value that is missing (NaN) ranks below every number.
/// ArgumentError if a set is empty or the names differ.
std::vector<StatisticAuroc> statistic_aurocs(const std::vector<NamedTensor>& in, const std::vector<NamedTensor>& out);

/// The one that tells the sets apart best; the first of equals. ArgumentError if there is none.
const StatisticAuroc& strongest(const std::vector<StatisticAuroc>& statistics);

}  // namespace priornet
