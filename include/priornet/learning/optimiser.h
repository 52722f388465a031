#pragma once

#include <priornet/learning/settings.h>
#include <priornet/uncertainty/named_tensor.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace priornet {

/// The parameters of a network in one piece of memory and their gradients in another, so that clipping, an update or an
/// exchange between processes is one pass. Every parameter becomes a view of `values`, and its grad() a view of
/// `gradients`. backward() adds to the gradients: clear them before each step. All parameters have the same dtype and
/// device, and the network stays on that device.
struct FlatParameters {
  explicit FlatParameters(std::vector<torch::Tensor> parameters);

  /// Sets every gradient to 0.
  void clear_gradients();

  torch::Tensor values;              ///< [size], the parameters with gaps of zeros that keep each aligned
  torch::Tensor gradients;           ///< [size], 0 in the gaps
  std::vector<torch::Tensor> views;  ///< the parameters
  std::vector<int64_t> offsets;      ///< where each begins
};

// Updates of all parameters in one pass. What changes from step to step (learning rate, bias corrections) is a table on
// the parameters' device, in which a counter on that device points at the current row: a step never waits for the host,
// and can be captured in a CUDA graph.

struct OptimiserOptions {
  std::string name = "nadam";  ///< of optimisers()
  SettingValues settings;      ///< of that rule; those of other rules are left alone
  double weight_decay = 0.0;   ///< as in the rule
  double clip = 0.0;           ///< the largest norm of the whole gradient; 0: any
};

/// A row of the table of update rules. The rules and their list: optimiser_rules.h.
struct OptimiserInfo {
  const char* name;
  const char* summary;
  std::vector<Setting> settings;
  std::vector<const char*> moments;  ///< what is kept per parameter, by the names it has in a checkpoint
};

/// All update rules.
const std::vector<OptimiserInfo>& optimisers();

class Optimiser {
 public:
  /// `rates`: the learning rate of every step of the run. `parameters` must outlive the optimiser. ArgumentError for an
  /// unknown rule or setting, or a value out of its range.
  static std::unique_ptr<Optimiser> make(FlatParameters& parameters, const OptimiserOptions& options,
                                         const std::vector<double>& rates);

  /// Updates the values by the clipped gradients, which are left as they are.
  void step();

  /// The norm of the gradient before it was clipped, of the last step; a float64 scalar on the parameters' device.
  const torch::Tensor& gradient_norm() const { return norm_; }

  /// What a checkpoint must keep: moments, and the number of steps done. The tensors share memory with the optimiser.
  std::vector<NamedTensor> state() const;

 private:
  Optimiser(FlatParameters& parameters, const OptimiserOptions& options, const std::vector<double>& rates);

  FlatParameters& parameters_;
  size_t rule_;                   ///< its place in optimisers()
  std::vector<double> settings_;  ///< in the rule's order
  double weight_decay_, clip_;
  std::vector<NamedTensor> moments_;  ///< named, [size] each
  torch::Tensor table_;               ///< float64 [steps, coefficients]
  torch::Tensor counter_;             ///< int64 [1]
  torch::Tensor current_, partials_;  ///< what the kernels of a GPU work with
  torch::Tensor norm_;
};

/// How the learning rate changes over a run.
struct ScheduleOptions {
  std::string name = "constant";  ///< of schedules()
  double rate = 1e-3;             ///< > 0
  bool each_step = true;          ///< else it changes only between epochs
  SettingValues settings;         ///< of that schedule; those of other schedules are left alone
};

/// A moment of a run, as a schedule sees it.
struct ScheduleMoment {
  double rate;    ///< of the options
  double epoch;   ///< from 0 on; it may lie within one
  double epochs;  ///< of the whole run
};

/// A row of the table of schedules.
struct ScheduleInfo {
  const char* name;
  const char* summary;
  std::vector<Setting> settings;
  double (*rate_at)(const ScheduleMoment& now, const SettingValues& settings);
};

/// All schedules.
const std::vector<ScheduleInfo>& schedules();

struct RunLength {
  int64_t epochs = 0;
  int64_t steps_per_epoch = 0;
};

/// The learning rate of every step. ArgumentError for an unknown schedule or setting, or a value out of its range.
std::vector<double> learning_rates(const ScheduleOptions& options, const RunLength& length);

}  // namespace priornet
