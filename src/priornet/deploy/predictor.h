#pragma once

#include <priornet/deploy/model_file.h>

#include <mutex>
#include <string_view>

namespace priornet {

/// What a model says of N inputs; tensors on the CPU.
struct Predictions {
  torch::Tensor prediction;         ///< int64 [N]
  torch::Tensor probability;        ///< float64 [N]: calibrated, of the predicted class
  torch::Tensor probabilities;      ///< float64 [N, K]: calibrated
  std::vector<NamedTensor> scores;  ///< float64 [N] each: the measures, named as everywhere
  torch::Tensor log_alpha;          ///< float64 [N, K]: logits of the (mean) Dirichlet; undefined of softmax models
  torch::Tensor logits;             ///< float64 [N, K], or [M, N, K] of several members or dropout samples
  std::vector<Decision> decisions;  ///< empty for a model that was not calibrated

  int64_t size() const { return prediction.size(0); }
  /// A measure by its name, or null where the model does not give it.
  const torch::Tensor* score(std::string_view measure) const;
};

/// A model ready to answer. Calls from several threads are made one after the other.
class Predictor {
 public:
  explicit Predictor(ModelFile model);

  /// `inputs`: images uint8 [N, C, H, W] of the model's shape (see fitted()), or rows of numbers float32 [N, D] as the
  /// user has them. The answer for an input does not depend on the others of its batch beyond rounding.
  /// ArgumentError for other shapes.
  Predictions predict(const torch::Tensor& inputs);

  /// An image uint8 [C, H, W] of any size as the model takes it. DataError if it may not be resized, or has channels
  /// that cannot be matched.
  torch::Tensor fitted(const torch::Tensor& image) const;

  /// The same of the bytes of an image file, called `name` where they are none. DataError.
  torch::Tensor decoded(std::string_view bytes, const std::string& name) const;

  const ModelFile& model() const { return model_; }

 private:
  ModelFile model_;
  std::mutex one_at_a_time_;
};

}  // namespace priornet
