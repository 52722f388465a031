#pragma once

#include <priornet/core/progress.h>
#include <priornet/data/dataset.h>
#include <priornet/runs/trained_run.h>

#include <string>
#include <vector>

namespace priornet {

/// What ODIN's settings may be chosen on: never a set that is tested. The names say what each is.
struct OdinValidation {
  Dataset inside;
  Dataset outside;
};

/// Up to `count` rows of each. Inside: the run's validation set, or of its training set where it has none or it is
/// tested. Outside: what the run names as its outside source (factor analysis of the training set, unless it says
/// otherwise), or uniform noise where that is tested or the inputs are no images. `tested` are the names of all sets
/// that are evaluated; sets are loaded by name. DataError where they are not there.
OdinValidation odin_validation(const TrainedRun& run, const std::vector<std::string>& tested, int64_t count,
                               Progress& progress);

/// The outside part alone, for a training set in memory.
Dataset odin_outside(const TrainedRun& run, const Dataset& train, const std::vector<std::string>& tested, int64_t count,
                     Progress& progress);

}  // namespace priornet
