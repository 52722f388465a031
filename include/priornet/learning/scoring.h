#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/odin.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/trained_run.h>
#include <priornet/uncertainty/named_tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

// What the networks of a run say about a set: logits, and the scores that detectors rank by.

namespace priornet {

struct ScoringOptions {
  int64_t dropout_samples = 0;  ///< passes with dropout on, of each member; 0: one pass without it
  int64_t batch = 0;            ///< inputs at a time; 0: what suits the device
  double noise = 0.0;           ///< standard deviation of Gaussian noise on every input, in [-1, 1] units
  uint64_t seed = 0;            ///< of noise and dropout; each set has its own, by its name
  bool bfloat16 = false;
  int64_t mu_theta_samples = 16;     ///< of an ensemble of Dirichlets, for I[mu, theta]; 0: leave it out
  std::optional<OdinSettings> odin;  ///< adds the column `odin`
  /// Fitted ones: each adds a column, in their order, from the same pass (detector.h).
  std::vector<NamedDetector> detectors = {};
};

/// The batch that the options ask for on a device.
int64_t batch_on(const torch::Device& device, const ScoringOptions& options);

/// Logits, float32 on the run's device: [N, K] of one network; [M, N, K] of several members, of dropout samples, or of
/// both (member by member). With dropout samples only dropout is at work: batch norm stays as in evaluation. The same
/// seed, batch size and device give the same logits. Sets `torch::manual_seed` if there is dropout. The scores of
/// options.detectors go to `columns`, if there are any.
torch::Tensor run_logits(TrainedRun& run, const Dataset& set, const ScoringOptions& options, Progress& progress,
                         std::vector<NamedTensor>* columns = nullptr);

/// The scores of N inputs, on the CPU.
struct SetScores {
  torch::Tensor probabilities;       ///< float64 [N, K]: of the classes, mean over the members
  std::vector<NamedTensor> columns;  ///< float64 [N] each; directions as in measure_table.h

  /// float64 [N], by name; nullptr if there is none.
  const torch::Tensor* find(std::string_view column) const;
};

/// Columns named as those of `priornet measure`, without `prediction` and standard errors, computed in float64: in
/// float32 the measures of near-flat Dirichlets tie. Then `energy`, -ln sum_c exp(z_c) (Liu et al., 2020), for an
/// ensemble the mean over the members.
SetScores scores_of_logits(const torch::Tensor& logits, bool dirichlet, int64_t mu_theta_samples = 16,
                           uint64_t seed = 0);

/// Fits the set to the run, runs the networks, scores their logits.
SetScores score(TrainedRun& run, const Dataset& set, const ScoringOptions& options, Progress& progress);

/// The same with a file in the folder `cache` (such as RUN/scores). The file is read if it belongs to these weights,
/// options and inputs; otherwise it is written, or replaced if it is damaged.
SetScores cached_score(TrainedRun& run, const Dataset& set, const ScoringOptions& options,
                       const std::filesystem::path& cache, Progress& progress);

}  // namespace priornet
