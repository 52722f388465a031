#pragma once

#include <priornet/deploy/predictor.h>

#include <string>
#include <vector>

#include "tool/commands/command.h"

// Logits, and perhaps features, from another program, in the subcommands that take them instead of a run.

namespace priornet::tool {

/// The options about such logits.
struct LogitsSource {
  std::vector<std::string> files;  ///< one array, or one per member
  std::string features;            ///< of the same inputs; empty: none
  std::string labels;
  std::string kind;              ///< dirichlet, softmax or ensemble
  std::string array;             ///< of an .npz or .safetensors
  bool takes_any_value = false;  ///< also values that are not finite
};

/// --logits, --features, --labels, --kind and --array; `what` says what the subcommand does with them.
std::vector<Option> logits_options(LogitsSource& source, const std::string& what);
/// The three of them that `predict` takes: --logits, --features and --array.
std::vector<Option> unlabelled_logits_options(LogitsSource& source, const std::string& what);

/// Misuse if an option was given that is only for a run; `in_place`: what was given instead of one.
void refuse_without_run(const char* option, bool given, const char* in_place = "--logits");

/// What another program's network gave for N inputs.
struct OwnOutputs {
  std::string name;        ///< of the first file
  torch::Tensor logits;    ///< float64 [N, K] or [M, N, K]
  torch::Tensor features;  ///< float32 [N, F]; undefined: none

  int64_t rows() const { return logits.size(-2); }
  int64_t classes() const { return logits.size(-1); }
  /// The rows of some inputs, int64 [R].
  OwnOutputs select(const torch::Tensor& inputs) const;
};

/// The outputs, with a warning about each sign that they are not logits. Misuse without --kind, which cannot be
/// guessed; DataError as in read_logits() and read_features(), or if kind and shape contradict each other.
OwnOutputs own_outputs(const LogitsSource& source);
/// Other inputs of the same network: `files` and `features` instead of the source's.
OwnOutputs other_outputs(const LogitsSource& source, const std::string& file, const std::string& features = "");

/// What a model's logits are, as --kind says it.
std::string kind_of(const ModelFile& model);

/// A model without a network for outputs of that kind and shape; classes are numbered. `features`: how many of them
/// detectors look at, 0 if none does.
ModelFile model_of_logits(const LogitsSource& source, const OwnOutputs& outputs, int64_t features);

/// What the model says about them; DataError also for logits of another shape than the model's.
Predictions judged(const ModelFile& model, const OwnOutputs& outputs);

}  // namespace priornet::tool
