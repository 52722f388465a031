#pragma once

#include <priornet/learning/network.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

// A network for inference on a CPU, by oneDNN: batch norm folded into the convolution before it; the activation, and
// the sum that ends a residual block, computed by the convolution before its results leave the registers; maps in
// oneDNN's own layout from one convolution to the next; a few images at a time, so that their maps stay in the caches.
// It gives the same answers as the layers, to rounding. A second way beside the layers, and what it gains: see
// docs/serve.md.

namespace priornet {

class PackedGraph;

class PackedNetwork {
 public:
  /// From layers whose weights lie on the CPU as float32. Null if there is nothing to gain (no convolution, a build
  /// without oneDNN) or if a layer cannot write itself.
  static std::shared_ptr<const PackedNetwork> of(const NetworkPlan& plan);
  ~PackedNetwork();

  /// Whether the weights are still those that were packed: neither replaced nor written to.
  bool is_current() const;

  using See = std::function<void(size_t layer, const torch::Tensor& values)>;

  /// The output of the first `end` layers for float32 inputs on the CPU, [N, ...] with N >= 1. `see` is shown the
  /// output of the layers that are marked in `wanted`, a few images at a time; it must not keep the tensor. Several
  /// threads may call it at once.
  torch::Tensor forward(const torch::Tensor& inputs, size_t end, const std::vector<bool>& wanted = {},
                        const See& see = {}) const;

 private:
  struct WeightState {
    torch::Tensor weight;  ///< as the layer has it
    torch::Tensor packed;  ///< the tensor it was; while it is kept, no other weight lies at that address
    int64_t version;
  };
  class Writer;

  PackedNetwork();

  std::unique_ptr<PackedGraph> graph_;
  std::vector<size_t> value_after_;  ///< of each layer
  std::vector<WeightState> weights_;
  int64_t images_ = 1;  ///< at a time
};

}  // namespace priornet
