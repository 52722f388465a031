#pragma once

#include <priornet/core/progress.h>
#include <priornet/models/network.h>

#include <cstdint>
#include <memory>
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
torch::Tensor odin_score(const std::vector<std::shared_ptr<Network>>& members, const torch::Tensor& inputs,
                         const OdinSettings& settings);

/// Settings, and what they reach on the validation inputs.
struct OdinChoice {
  OdinSettings settings;
  double fpr95 = 0;  ///< share of outside inputs taken for inside ones where 95 % of those are
  double auroc = 0;
};

/// Of a grid of temperatures and steps, the ones with the lowest fpr95, of equals the highest AUROC, of equals the
/// smallest step: as the authors choose. To be asked with validation inputs only, float32 on the members' device.
OdinChoice choose_odin(const std::vector<std::shared_ptr<Network>>& members, const torch::Tensor& inside,
                       const torch::Tensor& outside, int64_t batch, Progress& progress);

}  // namespace priornet
