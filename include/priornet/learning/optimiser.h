#pragma once

#include <priornet/uncertainty/named_tensor.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

namespace priornet {

/// The parameters of a network in one piece of memory and their gradients in another, so that clipping, an update or an
/// exchange between processes is one pass. Every parameter becomes a view of `values` and its grad() a view of
/// `gradients`, to which backward() adds: clear it before each step.
/// The parameters share dtype and device, and the network stays on that device.
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
  enum class Kind {
    kNAdam,  ///< Dozat (2016) with the momentum schedule mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2), as PyTorch has
             ///< it
    kSgd     ///< with momentum, by Nesterov's rule where asked
  };
  Kind kind = Kind::kNAdam;
  double beta1 = 0.9;            ///< of kNAdam
  double beta2 = 0.999;          ///< of kNAdam
  double epsilon = 1e-8;         ///< of kNAdam
  double momentum_decay = 4e-3;  ///< of kNAdam
  double momentum = 0.9;         ///< of kSgd
  bool nesterov = true;          ///< of kSgd
  double weight_decay = 0.0;     ///< times the parameter, added to its gradient
  double clip = 0.0;             ///< the largest norm of the whole gradient; 0: any
};

class Optimiser {
 public:
  /// `rates`: the learning rate of every step of the run. `parameters` outlives the optimiser.
  static std::unique_ptr<Optimiser> make(FlatParameters& parameters, const OptimiserOptions& options,
                                         const std::vector<double>& rates);
  Optimiser(FlatParameters& parameters, const OptimiserOptions& options, const std::vector<double>& rates);

  /// Updates the values by the clipped gradients, which are left as they are.
  void step();

  /// The norm of the gradient before it was clipped, of the last step; a float64 scalar on the parameters' device.
  const torch::Tensor& gradient_norm() const { return norm_; }

  /// What must be kept to go on later: moments, and the number of steps done. Tensors that share memory with it.
  std::vector<NamedTensor> state() const;

 private:
  FlatParameters& parameters_;
  OptimiserOptions options_;
  std::vector<NamedTensor> moments_;  ///< named, [size] each
  torch::Tensor table_;               ///< float64 [steps, coefficients]
  torch::Tensor counter_;             ///< int64 [1]
  torch::Tensor current_, partials_;  ///< what the kernels of a GPU work with
  torch::Tensor norm_;
};

}  // namespace priornet
