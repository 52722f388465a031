#pragma once

#include <priornet/data/dataset.h>
#include <priornet/train/config.h>

namespace priornet {

/// A configuration for a set that nobody wrote one for: a Prior Network that suits its kind of data and its size, with
/// out-of-distribution inputs made from nothing, a tenth of the rows kept back to be watched and a tenth for
/// calibration. `name` is what the set is loaded by. DataError, opened by it: no labels, one class, too few rows.
TrainConfig config_for(const std::string& name, const Dataset& set);

}  // namespace priornet
