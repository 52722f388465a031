#pragma once

#include <priornet/learning/network.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "learning/networks/layers.h"

// What a packed network computes: operations of oneDNN on maps, and functions of tensors on what follows them. Without
// oneDNN no graph can run (packed_graph_missing.cpp).

namespace priornet {

struct PackedConvolution {
  torch::Tensor weight, bias;  ///< float32; the bias in float64 as long as batch norm is folded into it
  LayerWriter::Window window;
};

/// One operation of oneDNN on maps, or any function of tensors.
struct PackedStep {
  enum class Kind { kConvolution, kNorm, kRectifier, kScale, kPool, kAdd, kTensors };
  using OfTensors = std::function<torch::Tensor(const torch::Tensor& first, const torch::Tensor& second)>;

  Kind kind;
  LayerWriter::Value made = 0;                 ///< the value that it gives; value 0 is the input
  LayerWriter::Value first = 0;                ///< the value that it takes
  std::optional<LayerWriter::Value> second{};  ///< what is added, by a convolution before its activation
  size_t index = 0;                            ///< among convolutions or norms
  double number = kNoActivation;               ///< slope of its activation, or the factor of kScale
  int64_t side = 0;                            ///< of kPool
  LayerWriter::Window window{};
  OfTensors of_tensors{};

  bool makes_map() const { return kind != Kind::kTensors; }
  /// Whether what it gives could still go through something else before it leaves the registers.
  bool is_bare() const { return kind == Kind::kConvolution && !second && number == kNoActivation; }
};

class PackedGraph {
 public:
  using Value = LayerWriter::Value;
  using TensorOf = std::function<torch::Tensor(Value value)>;
  using Made = std::function<void(Value value, const TensorOf& tensor)>;

  PackedGraph();
  ~PackedGraph();

  std::vector<PackedStep> steps;  ///< a step takes values that steps before it make
  std::vector<PackedConvolution> convolutions;
  std::vector<LayerWriter::BatchNorm> norms;

  /// Whether this build has oneDNN, and oneDNN every operation for one input of this shape, [C, H, W]. Afterwards
  /// steps, convolutions and norms must not change.
  bool can_run(const std::vector<int64_t>& input_shape);

  /// The value `last` for inputs [N, C, H, W], float32, contiguous. made(value, tensor) is called for the inputs, value
  /// 0, and after each step; tensor(value) gives what was made. Several threads may call it at once.
  torch::Tensor run(const torch::Tensor& inputs, Value last, const Made& made);

 private:
  class Program;
  class Programs;

  std::unique_ptr<Programs> programs_;
};

/// Whether this build has oneDNN.
bool can_pack_networks();

}  // namespace priornet
