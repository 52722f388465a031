#pragma once

#include <priornet/uncertainty/measures.h>
#include <priornet/uncertainty/named_tensor.h>

#include <string_view>
#include <vector>

// The table of measures: everything that the library, the tool and its pages know about a measure by its name.

namespace priornet {

/// What a high value says. kNone: it does not rank inputs.
enum class Direction { kUncertainty, kConfidence, kNone };

/// What a measure measures: the input is ambiguous, it is unfamiliar, the members disagree, or all together.
enum class Cause { kData, kDistributional, kModel, kTotal };

struct Measure {
  std::string_view name;       ///< in files, columns, JSON and options
  std::string_view label;      ///< on pages
  std::string_view unit = {};  ///< "nats", or empty
  Direction direction = Direction::kUncertainty;
  Cause cause = Cause::kTotal;
  Cause softmax_cause = Cause::kTotal;  ///< the same for softmax models: they have no distributional uncertainty
  std::string_view section;             ///< of docs/math.md, that has the formula

  // The field that holds it, by kind of model; null if that kind does not give it. If all are null, it is the score of
  // a detector.
  torch::Tensor SoftmaxMeasures::*softmax = nullptr;
  torch::Tensor EnsembleMeasures::*ensemble = nullptr;
  torch::Tensor DirichletMeasures::*dirichlet = nullptr;
  torch::Tensor DirichletEnsembleMeasures::*dirichlet_ensemble = nullptr;

  bool preferred = false;                     ///< a verdict uses it rather than the table's first measure of this cause
  double (*bound)(double classes) = nullptr;  ///< its largest value; null: there is none
};

/// In the order of columns.
const std::vector<Measure>& measure_table();

/// Null for a name that the table does not have.
const Measure* find_measure_by_name(std::string_view name);

/// "uncertainty", "confidence" or "none"; "data", "distributional", "model" or "total".
std::string_view name_of(Direction direction);
std::string_view name_of(Cause cause);

/// The names of all measures of a direction, in the order of the table.
std::vector<std::string_view> measure_names(Direction direction);

/// Whether a column is a confidence: high if the model is sure, so that a detector of uncertain inputs negates it.
/// An unknown name is none.
bool is_confidence(std::string_view column);

/// Whether a column ranks inputs at all: `prediction` and the standard error of an estimate do not; an unknown name
/// does.
bool is_score(std::string_view column);

// The measures as columns, in the order of the table. What was not estimated is left out.

std::vector<NamedTensor> measure_columns(const DirichletMeasures& measures);
std::vector<NamedTensor> measure_columns(const SoftmaxMeasures& measures);
std::vector<NamedTensor> measure_columns(const EnsembleMeasures& measures);
std::vector<NamedTensor> measure_columns(const DirichletEnsembleMeasures& measures);

/// What kind of model logits come from.
enum class LogitKind { kSoftmax, kDirichlet };

/// The measures of logits [N, K] of one model, or [M, N, K] of an ensemble. Throws ArgumentError as the functions of
/// measures.h do.
std::vector<NamedTensor> measure_columns(const torch::Tensor& logits, LogitKind kind,
                                         const MuThetaOptions& estimate = {});

/// The names of the columns that such logits have, including the estimate of I[mu, theta].
std::vector<std::string> measure_names(LogitKind kind, bool ensemble);

}  // namespace priornet
