#pragma once

#include <priornet/deploy/predictor.h>
#include <priornet/learning/evaluation.h>
#include <priornet/uncertainty/decision.h>
#include <torch/types.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// What a person who decides about a model asks: what it is, how often it is wrong, what share of inputs it hands back
// to people and why, how far its probabilities can be trusted. `priornet evaluate` says it in words and as JSON, the
// report as a page.

namespace priornet {

/// What a model says about the inputs of a set, and their true labels.
struct JudgedSet {
  std::string name;
  torch::Tensor probabilities;      ///< float64 [N, K]: calibrated, if the model is
  torch::Tensor labels;             ///< int64 [N], as the model numbers its classes; undefined for a foreign set
  std::vector<Decision> decisions;  ///< one per input; empty if the model is not calibrated

  int64_t size() const { return probabilities.size(0); }
  /// bool [N]: the inputs with this verdict; a model that is not calibrated accepts all.
  torch::Tensor with(Verdict verdict) const;
  int64_t count(Verdict verdict) const { return with(verdict).sum().item<int64_t>(); }
  int64_t handed_back() const { return size() - count(Verdict::kAccept); }
};

/// An evaluation and its model.
struct ModelReport {
  const ModelFile& model;
  const EvaluationReport& report;
  JudgedSet test;                   ///< the in-distribution set
  std::vector<JudgedSet> foreign;   ///< the others, in their order
  bool tested_on_training = false;  ///< whether the in-distribution set is the one that the model learnt from
  std::vector<std::string> learnt_as_foreign = {};  ///< those of `foreign` that the model learnt to call foreign
};

/// The sets of an evaluation, in its order.
struct EvaluatedSets {
  const Dataset& inside;
  const std::vector<Dataset>& outside;
};

/// Gets the verdicts of a calibrated model; for any other model, uses the scores of the evaluation.
ModelReport model_report(const ModelFile& model, const EvaluationReport& report, const EvaluatedSets& sets,
                         Progress& progress);

/// Wilson's 95 % interval of a share: it does not collapse if there are few. `total` above 0.
Estimate share_of(int64_t count, int64_t total);

/// One number of the first screen, with what a reader needs to know about it.
struct KeyFigure {
  std::string name;    ///< for machines: "error", "handed_back", "accepted_error", "calibration", "noticed"
  std::string value;   ///< "3.25 %"
  std::string label;   ///< "wrong, if every answer is taken"
  std::string detail;  ///< in a sentence or two
};
std::vector<KeyFigure> key_figures(const ModelReport& report);

/// What the model is and what it was tested on, in a sentence or two.
std::string description(const ModelReport& report);

/// What happens to a thousand inputs like those of the test set, in a sentence.
std::string bottom_line(const ModelReport& report);

/// A set as a sentence names it: the last part of a path, without modifiers (load_set.h). Other names stay as they are.
std::string short_set_name(const std::string& name);

/// Warnings for the reader, a sentence or two each: sets that the model learnt from, a trivial statistic that does as
/// well as the network, more handed back than promised, few inputs. Most reports have none.
std::vector<std::string> warnings(const ModelReport& report);

/// Description, key figures and warnings, for a terminal.
std::string to_text(const ModelReport& report);
std::string to_markdown(const ModelReport& report);

/// All of it: {"description", "bottom_line", "key_figures", "warnings", "model", "operating_point", "test", "foreign"}.
/// "test" has the errors, the verdicts by cause, the confusion matrix (rows: true classes), the errors per class, the
/// reliability before and after the temperature, and the error of the accepted inputs against their share.
nlohmann::ordered_json summary_json(const ModelReport& report);

}  // namespace priornet
