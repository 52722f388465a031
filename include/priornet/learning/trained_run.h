#pragma once

#include <priornet/learning/config.h>
#include <priornet/learning/run_folder.h>
#include <priornet/learning/training_sets.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace priornet {

/// A run whose networks are ready to use: one network, or the members of an ensemble.
struct TrainedRun {
  TrainConfig config;
  std::vector<std::shared_ptr<Classifier>> members;  ///< at least one; of one architecture, on one device
  std::vector<std::string> class_names;
  TrainingSplit split;   ///< of the rows it learnt from: those it is asked about are standardised alike
  std::string identity;  ///< which weights these are, for the cache of scores; empty if nobody knows

  torch::Device device() const;
  /// Whether the logits are those of Dirichlets, and not only of a softmax.
  bool gives_dirichlet() const;
};

/// How a run or a model file is opened.
struct OpenOptions {
  // NOLINTNEXTLINE(google-explicit-constructor): load_run(folder, device) says it all.
  OpenOptions(torch::Device on = torch::kCPU, WhichCheckpoint checkpoint = WhichCheckpoint::kLast)
      : device(on), which(checkpoint) {}
  OpenOptions(torch::DeviceType on) : OpenOptions(torch::Device(on)) {}  // NOLINT(google-explicit-constructor)

  torch::Device device;
  WhichCheckpoint which;  ///< of a run
  /// A network that PyTorch scripted is a program: using it runs what its author wrote. Without this option a run or
  /// file that holds such a network is refused.
  bool allow_torchscript = false;
};

/// DataError, which begins with `path`, that says why what lies there is not opened, and how it would be.
[[noreturn]] void refuse_torchscript(const std::filesystem::path& path);

/// The run of a folder (run_folder.h), or the ensemble of one: with `members` = M in its configuration, the runs
/// of its folders member-1, ..., member-M.
/// DataError that names the folder or file: no run there, no checkpoint in it, one that is damaged or of another
/// network, members that differ in their classes or architecture, a program that is not allowed.
TrainedRun load_run(const std::filesystem::path& folder, const OpenOptions& options = {});

/// How many epochs a run was trained for so far, by its metrics.jsonl; of an ensemble the member with the fewest. With
/// fewer than `epochs` of its configuration it did not finish.
int64_t epochs_trained(const std::filesystem::path& folder);

/// The set as the run's network takes it: images are fitted to its shape (fit_to), columns that have names are those
/// that the run learnt from, in their order. DataError, which begins with the set's name, where that cannot be.
Dataset fit_to_run(const Dataset& set, const TrainedRun& run);

/// DataError, which begins with the set's name, that says which row of logits [M, N, K] is the first with one that is
/// no number.
void check_finite(const torch::Tensor& logits, const std::string& set);

/// Gives the sets of a configuration that names a teacher theirs, unless they have one: what the networks of that run,
/// on average, say about the very inputs that a step learns from, augmented and noisy as they are, at least 1.2e-7 per
/// class; with teacher_in_turn what one of them says, row r being asked of member r modulo their number. A
/// cross-entropy is linear in it, so that its gradient is the same in the mean, for one pass instead of M. train()
/// calls it. DataError if the run is not there, knows other classes, or takes inputs of
/// another shape or other columns.
void add_teacher(TrainingSets& sets, const TrainConfig& config, const torch::Device& device);

}  // namespace priornet
