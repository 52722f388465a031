#pragma once

#include <priornet/learning/network.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

// A network for inference on a CPU: batch norm folded into the convolution before it, weights in the order in which
// oneDNN multiplies them, maps left in oneDNN's own layout from one convolution to the next, a few images at a time so
// that they stay in the caches. It gives the same answers as the layers, to rounding. Images per second of one thread's
// time, beside LibTorch's operations with batch norm folded too: ResNet-18 76 one by one (64), 109 in batches of 32
// (97).

namespace priornet {

class PackedNetwork {
 public:
  /// From layers whose weights lie on the CPU as float32. Null if there is nothing to gain (no convolution, a LibTorch
  /// without oneDNN) or if a layer cannot write itself.
  static std::shared_ptr<const PackedNetwork> of(const NetworkPlan& plan);

  /// Whether the weights are still those that were packed: neither replaced nor written to.
  bool is_current() const;

  using See = std::function<void(size_t layer, const torch::Tensor& values)>;

  /// The output of the first `end` layers for float32 inputs on the CPU, [N, ...] with N >= 1. `see` is shown the
  /// output of the layers that are marked in `wanted`, a few images at a time; it must not keep the tensor.
  torch::Tensor forward(const torch::Tensor& inputs, size_t end, const std::vector<bool>& wanted = {},
                        const See& see = {}) const;

 private:
  struct Operands {
    torch::Tensor first, second;
    bool may_overwrite = false;  ///< no later step needs `first`
  };
  struct Step {
    std::function<torch::Tensor(const Operands& operands)> compute;
    size_t first = 0, second = 0;  ///< values; value 0 is the input, step i gives value i + 1
    bool binary = false;
    bool overwrites = false;  ///< may write to `first` if no later step needs it
  };
  struct WeightState {
    torch::Tensor weight;  ///< as the layer has it
    torch::Tensor packed;  ///< the tensor it was; while it is kept, no other weight lies at that address
    int64_t version;
  };
  class Writer;

  torch::Tensor few(const torch::Tensor& inputs, size_t end, const std::vector<bool>& wanted, const See& see) const;

  std::vector<Step> steps_;
  std::vector<size_t> value_after_;  ///< of each layer
  std::vector<WeightState> weights_;
  int64_t images_ = 1;  ///< at a time
};

}  // namespace priornet
