#pragma once

#include <priornet/eval/detection.h>
#include <priornet/runs/scoring.h>

#include <array>
#include <string_view>
#include <vector>

// The three uncertainties of an ensemble of Prior Networks, apart (docs/math.md, section 4): data, E H[p(y|mu)];
// distributional, E I[y, mu | theta]; model, I[y, theta]. They add up to the entropy of the mean.

namespace priornet {

constexpr std::array<std::string_view, 3> kUncertaintyParts = {"data", "distributional", "model"};

/// Of one set, by kUncertaintyParts.
struct UncertaintyParts {
  std::array<double, 3> mean{};     ///< nats
  std::array<Estimate, 3> auroc{};  ///< against the in-distribution set, with DeLong's interval; of that set 0
};

/// Whether scores are those of an ensemble of Dirichlets.
bool has_uncertainty_parts(const SetScores& scores);

/// The in-distribution set, then each of the others. ArgumentError unless the scores have the columns.
std::vector<UncertaintyParts> uncertainty_parts(const SetScores& inside, const std::vector<SetScores>& outside);

}  // namespace priornet
