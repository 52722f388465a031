#pragma once

#include <priornet/learning/settings.h>
#include <priornet/uncertainty/losses.h>

#include <memory>
#include <string>
#include <vector>

// What a network is trained for: the methods the paper compares, and their nearest relatives. Each lies in a file of
// its own (src/learning/training/method_list.h lists them).

namespace priornet {

/// The targets of the rows of a batch.
struct BatchTargets {
  torch::Tensor labels;   ///< int64 [N], of the first N rows
  torch::Tensor teacher;  ///< probabilities [N + M, K] that a teacher gives all rows; undefined without one
  double prior = 1.0;     ///< concentration of a class without evidence: ModelOptions::prior of the network
};

/// A loss whose settings are chosen.
class Method {
 public:
  virtual ~Method() = default;

  /// The loss of one batch of logits [N + M, K] and its gradient in them, with elements clipped to [-steepest,
  /// steepest]. The first N rows are in distribution, the other M outside; M is 0 unless the method needs outside
  /// inputs. With a teacher, cross-entropies are to its probabilities, instead of to the labels and to equal
  /// probabilities. Logits come without a graph; parts of the loss that a method does not have are 0.
  virtual LossWithGradient loss(const torch::Tensor& logits, const BatchTargets& targets, double steepest) const = 0;
};

/// A row of the table of methods.
struct MethodInfo {
  const char* name;     ///< as configurations call it
  const char* summary;  ///< in one line
  std::vector<Setting> settings;
  bool needs_outside = true;    ///< is trained on out-of-distribution inputs as well
  bool needs_teacher = false;   ///< needs the probabilities of a run that was trained before
  bool gives_dirichlet = true;  ///< its logits are those of a Dirichlet, alpha = exp(logits), not only of a softmax
  bool takes_prior = false;     ///< its loss depends on BatchTargets::prior
  std::unique_ptr<Method> (*make)(const SettingValues& settings);  ///< takes a value for each setting
};

/// All methods.
const std::vector<MethodInfo>& methods();

/// ArgumentError for an unknown name.
const MethodInfo& method_info(const std::string& name);

struct MethodOptions {
  std::string name = "dpn";  ///< of methods()
  SettingValues settings;    ///< of that method; those of other methods are left alone
};

/// ArgumentError for an unknown method or setting, or a value out of its range.
std::unique_ptr<Method> make_method(const MethodOptions& options);

}  // namespace priornet
