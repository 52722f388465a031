#pragma once

#include <priornet/learning/config.h>
#include <priornet/learning/run_folder.h>
#include <priornet/learning/training_sets.h>
#include <priornet/uncertainty/errors.h>

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
  TrainingSplit split;   ///< of the rows it learnt from: new rows are standardised in the same way
  std::string identity;  ///< which weights these are, for the cache of scores; empty if unknown

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

/// A run or a model file holds a network that is a program, and OpenOptions do not allow it.
class ProgramNotAllowed : public DataError {
 public:
  using DataError::DataError;
};

/// Throws ProgramNotAllowed, which begins with `path`: why this program is not opened, and which option opens it.
[[noreturn]] void refuse_torchscript(const std::filesystem::path& path);

/// The run of a folder (run_folder.h), or the ensemble of one: with `members` = M in its configuration, the runs
/// of its folders member-1, ..., member-M.
/// DataError that names the folder or file: no run there, no checkpoint in it, one that is damaged or of another
/// network, members that differ in their classes or architecture, a program that is not allowed.
TrainedRun load_run(const std::filesystem::path& folder, const OpenOptions& options = {});

/// How many epochs a run was trained for so far, by its metrics.jsonl; for an ensemble, those of the member with the
/// fewest. With fewer than `epochs` of its configuration it did not finish.
int64_t epochs_trained(const std::filesystem::path& folder);

/// The set as the run's network takes it: images are fitted to its shape (fit_to), columns that have names are those
/// that the run learnt from, in their order. DataError, which begins with the set's name, if that is impossible.
Dataset fit_to_run(const Dataset& set, const TrainedRun& run);

/// Throws DataError, which begins with the set's name and names the first row of logits [M, N, K] with a value that is
/// not a number.
void check_finite(const torch::Tensor& logits, const std::string& set);

/// If the configuration names a teacher and the sets have none, gives them one. The teacher returns the mean
/// probabilities of that run's networks, at least 1.2e-7 per class, for the very inputs of a step, augmented and noisy
/// as they are. With teacher_in_turn only one network answers each row: member r modulo their number answers row r. A
/// cross-entropy is linear in the probabilities, so the gradient is the same in the mean, for one pass instead of M.
/// train() calls this function. DataError if the run is missing, has other classes, or takes inputs of another shape or
/// other columns.
void add_teacher(TrainingSets& sets, const TrainConfig& config, const torch::Device& device);

}  // namespace priornet
