#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/trained_run.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// ODIN (Liang, Li & Srikant, 2018): the largest softmax probability at a temperature, after a small step of the input
// towards what the network is sure of. Formulas in docs/math.md, section 9.

namespace priornet {

struct OdinSettings {
  double temperature = 1000;  ///< > 0
  double step = 0.002;        ///< of the perturbation, in [-1, 1] units; >= 0
};

/// S(x~) = max_c mean over members of softmax(f(x~) / T)_c at x~ = x + step sign(d ln S / dx): a confidence, float64
/// [N] on the CPU. `inputs` as networks take them (float32, on the members' device); the members are in evaluation mode
/// meanwhile. ArgumentError for settings out of range.
torch::Tensor odin_score(const std::vector<std::shared_ptr<Classifier>>& members, const torch::Tensor& inputs,
                         const OdinSettings& settings);

/// Settings, and what they reach on the validation inputs.
struct OdinChoice {
  OdinSettings settings;
  double fpr95 = 0;  ///< share of outside inputs taken for inside ones where 95 % of those are
  double auroc = 0;
};

/// The temperature and step of a grid with the lowest fpr95; ties go to the highest AUROC, then to the smallest step,
/// as the authors choose. Call it with validation inputs only, float32 on the members' device.
OdinChoice choose_odin(const std::vector<std::shared_ptr<Classifier>>& members, const torch::Tensor& inside,
                       const torch::Tensor& outside, int64_t batch, Progress& progress);

/// The inputs on which ODIN's settings may be chosen: never a test set. The names say what each is.
struct OdinValidation {
  Dataset inside;
  Dataset outside;
};

/// Up to `count` rows of each. Inside: rows of the run's validation set, or of its training set if it has no validation
/// set or if that set is tested. Outside: what the run names as its outside source (factor analysis of the training
/// set, unless it says otherwise), or uniform noise if that source is tested or if the inputs are not images. `tested`
/// are the names of all sets that are evaluated; sets are loaded by name. DataError if a set is missing.
OdinValidation odin_validation(const TrainedRun& run, const std::vector<std::string>& tested, int64_t count,
                               Progress& progress);

/// The outside part alone, for a training set in memory.
Dataset odin_outside(const TrainedRun& run, const Dataset& train, const std::vector<std::string>& tested, int64_t count,
                     Progress& progress);

}  // namespace priornet
