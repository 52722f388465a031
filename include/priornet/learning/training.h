#pragma once

#include <priornet/learning/config.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/method.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/run_folder.h>
#include <priornet/learning/training_sets.h>
#include <priornet/uncertainty/errors.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace priornet {

/// What is watched while a network trains.
struct Validation {
  double error = 0.0;                  ///< share of rows
  double negative_log_likelihood = 0;  ///< nats per row
  double calibration_error = 0.0;
  /// The mean of each measure, by its column name of `priornet measure`, on the set and outside it.
  std::vector<std::pair<std::string, double>> inside;
  std::vector<std::pair<std::string, double>> outside;
};

/// `outside` may be undefined.
Validation validate(Classifier& network, const Dataset& set, const torch::Tensor& outside, const MethodInfo& method,
                    const InferenceOptions& options);

/// An epoch that is over.
struct EpochReport {
  int64_t epoch = 0;  ///< 1, 2, ...
  double loss = 0.0;  ///< means over the epoch's steps, as the others; without the weights of data.balance
  double inside = 0.0;
  double outside = 0.0;
  double cross_entropy = 0.0;
  double gradient_norm = 0.0;
  double rate = 0.0;  ///< the learning rate of the last step
  double seconds = 0.0;
  double images_per_second = 0.0;
  int64_t restart = 0;  ///< how often the run has begun again from another seed
  std::optional<Validation> validation;
};

/// The losses of a report from the sums over the steps; the caller fills in the rest.
EpochReport report_of(const torch::Tensor& sums);

/// One line of metrics.jsonl.
std::string to_json(const EpochReport& report);

class ProcessGroup;

/// The network answers no better than chance: the run begins again from another seed.
struct Restart {
  int64_t number = 0;   ///< 1, 2, ...
  int64_t epoch = 0;    ///< after which it was noticed
  double error = 0.0;   ///< on the validation set
  double chance = 0.0;  ///< the error of always answering the class that is most frequent there
};

/// "after epoch 1 the error on the validation set is 90.2 %, no better than chance (88.7 %): restart 1, from another
/// seed"
std::string to_text(const Restart& restart);

struct TrainerOptions {
  torch::Device device = torch::kCPU;
  bool resume = false;                               ///< from the folder's last checkpoint, if there is one
  ProcessGroup* processes = nullptr;                 ///< that share the run, each with its part of every batch
  std::function<bool()> stop;                        ///< asked after each step; then a checkpoint is written
  std::function<void(const EpochReport&)> on_epoch;  ///< is told about each epoch
  std::function<void(const Restart&)> on_restart;    ///< is told that the run begins again (training.restarts)
  std::function<void(int64_t epoch)> on_patience;    ///< is told that the run ends early, and which epoch it keeps
  /// Is told what is wrong with a checkpoint that was set aside, and which one the run goes on from.
  std::function<void(const std::string&)> on_damaged;
  /// Called by the process that writes, once everything is ready: the run that is replaced is gone, and nothing else is
  /// written yet.
  std::function<void()> on_begin;
};

/// Training stopped because it was asked to; there is a checkpoint to go on from.
class TrainingStopped : public Error {
 public:
  using Error::Error;
};

/// Trains a network and leaves it in the run's folder, with how its rows were prepared (TrainingSplit). If the
/// configuration names a teacher and the sets have none, that run becomes the teacher (add_teacher). The same
/// configuration, device and thread count give the same network, also when the run was stopped, or killed, and resumed
/// in between (on a CPU; on a GPU to rounding). A network that answers no better than chance after an epoch is thrown
/// away, and another is trained from another seed, at most config.restarts times; then the network is kept. Error if a
/// loss is not finite (it names step, rows and last checkpoint) or if memory does not suffice (it names the batch);
/// DataError for a checkpoint that does not fit, if the rows are not those that the run began with, or if another
/// process trains in the folder; TrainingStopped. With several processes, all call it with the same arguments: they
/// stop together, and only the first writes (docs/processes.md). ProcessGone that names the process that has ended;
/// ConfigError if they do not train the same run.
std::shared_ptr<Classifier> train(const TrainConfig& config, const TrainingSets& sets, const RunFolder& folder,
                                  const TrainerOptions& options, Progress& progress);

struct EnsembleOptions {
  TrainerOptions trainer;
  RunFolder::Start start = RunFolder::Start::kNew;
  /// Is told which member, 1, 2, ..., begins; not called for a run of one network.
  std::function<void(int64_t member)> on_member;
};

/// Where member 1, 2, ... of an ensemble lies in the folder of its run.
std::filesystem::path member_folder(const std::filesystem::path& run, int64_t member);

/// The configuration of member 1, 2, ...: that of the run with another seed.
TrainConfig member_config(const TrainConfig& config, int64_t member);

/// Trains all networks of a configuration: one in the folder itself, the members of an ensemble one after the other in
/// folders of their own, which are whole runs themselves. A run that is to be replaced is removed when the first
/// network is ready to be trained; if that network cannot be made ready, the old run stays. Throws as train().
void train_run(const TrainConfig& config, const TrainingSets& sets, const std::filesystem::path& folder,
               const EnsembleOptions& options, Progress& progress);

}  // namespace priornet
