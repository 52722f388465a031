#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

/// A run on disk: config.toml with all keys, metrics.jsonl with one line per epoch, the same as metrics.csv and for
/// TensorBoard as metrics.tfevents, checkpoints/ with the last few checkpoints and the best.
class RunFolder {
 public:
  enum class Start {
    kNew,     ///< refused if there is a run already
    kResume,  ///< goes on with the run in the folder, or begins it
    kForce    ///< replaces the run in the folder, with its members, scores and evaluation: begin() removes it
  };

  /// DataError if a run is already there, or if the folder cannot be made. Removes nothing.
  RunFolder(std::filesystem::path path, Start start);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path best() const { return path_ / "checkpoints" / "best.safetensors"; }
  std::filesystem::path checkpoint(int64_t step) const;
  /// For a network that is a program (Classifier::program).
  std::filesystem::path program() const { return path_ / "network.pt"; }

  /// Call it once everything is ready, before anything is written. It removes the run that this one replaces, and
  /// nothing else in the folder, so a run that cannot begin leaves an older one as it is. DataError if it cannot be
  /// removed.
  void begin() const;

  /// The file appears whole or not at all.
  void write_config(const std::string& toml) const;

  /// Classifier::program(), whole or not at all; writes nothing if it is undefined.
  void write_program(const torch::Tensor& bytes) const;

  /// DataError that shows the difference if the folder holds a run of another configuration,
  /// unless this one replaces it.
  void check_config(const std::string& toml) const;

  /// The steps of the checkpoints that are kept, oldest first.
  std::vector<int64_t> steps() const;

  /// Renames a damaged checkpoint to STEP.safetensors.damaged, so that it is kept but no longer used.
  void set_aside(int64_t step) const;

  /// Removes all but the last `count`.
  void keep_last(int64_t count) const;

  /// Removes all checkpoints, and the best.
  void remove_checkpoints() const;

  /// Removes epochs from `epoch` (1, 2, ...) on from the metrics: a run went further than its checkpoint.
  void cut_metrics(int64_t epoch) const;

  /// Adds one line to metrics.jsonl, and the same in the other formats, which other processes can read at once.
  void add_metrics(const std::string& json) const;

 private:
  void make_folders() const;

  std::filesystem::path path_;
  bool replaces_;
};

/// A lock that is held while a run's folder is written: two runs that train in one folder would mix their files.
/// DataError if another process holds it. On a disk without locks it does nothing.
class RunLock {
 public:
  explicit RunLock(const RunFolder& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_;
};

enum class WhichCheckpoint {
  kLast,  ///< where training ended
  kBest   ///< of the lowest validation error; a leak if that set is part of the test set
};

/// What write_program() left in a run's folder, uint8 [B]; undefined if there is none.
torch::Tensor read_program(const std::filesystem::path& run);

/// The file to take the weights of a run from. DataError if there is none.
std::filesystem::path weights_of_run(const std::filesystem::path& run, WhichCheckpoint which = WhichCheckpoint::kLast);

}  // namespace priornet
