#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

namespace priornet {

struct StageMap;

/// A classifier, inputs [N, ...] to logits [N, K], as a row of stages: each maps what the one before it gave.
class Network : public torch::nn::Module {
 public:
  /// An input of another shape than the network was made for throws ArgumentError.
  torch::Tensor forward(const torch::Tensor& inputs);

  /// forward() in two parts: up to the first dropout, the same in every pass, and from there on.
  torch::Tensor before_dropout(const torch::Tensor& inputs);
  torch::Tensor from_dropout(const torch::Tensor& values);
  bool has_dropout() const { return first_dropout_ < stages_.size(); }

  const std::vector<int64_t>& input_shape() const { return input_shape_; }  ///< of one input
  int64_t classes() const { return classes_; }

  struct Layer {
    std::string name;             ///< "conv 3x3, 64"
    std::vector<int64_t> output;  ///< of one input
    int64_t parameters = 0;
    int64_t multiply_adds = 0;  ///< of its convolutions and dense layers, for one input
  };
  /// A row a stage.
  std::vector<Layer> describe();

  /// What the stages compute (stage_map.h), in their order.
  std::vector<std::shared_ptr<StageMap>> maps() const;

 protected:
  Network(std::vector<int64_t> input_shape, int64_t classes);

  using Parts = std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>>;

  /// `parts` are the modules of `map`, registered here under their names.
  void add_stage(std::string name, StageMap map, const Parts& parts = {});

 private:
  torch::Tensor through(torch::Tensor values, size_t first, size_t end) const;

  struct Stage {
    std::string name;
    std::shared_ptr<StageMap> map;
    int64_t parameters = 0;
    int64_t convolution_weights = 0;  ///< times how often each is used for a pixel that the stage gives
    int64_t dense_weights = 0;
  };

  std::vector<int64_t> input_shape_;
  int64_t classes_;
  std::vector<Stage> stages_;
  size_t first_dropout_ = 0;  ///< of the stages; their number if none is dropout
};

/// Lays the weights of convolutions out as they are multiplied fastest; inputs should come likewise.
void to_channels_last(Network& network);

/// Of the whole network, for one input; a training step takes three times as many.
int64_t multiply_adds(Network& network);

/// How many trainable numbers a module has.
int64_t parameter_count(const torch::nn::Module& module);

}  // namespace priornet
