#pragma once

#include <priornet/uncertainty/ensembles.h>
#include <priornet/uncertainty/measures.h>
#include <priornet/uncertainty/named_tensor.h>

#include <string_view>
#include <vector>

// What is known about a column by its name, for the columns that the measures give.

namespace priornet {

/// Whether a column is a confidence: high where the model is sure, so that a detector of uncertain inputs negates it.
/// `max_prob`, `precision` and `odin` are; the uncertainties are not, nor is an unknown name.
bool is_confidence(std::string_view column);

/// Whether a column ranks inputs at all: `prediction` and the standard error of an estimate do not; an unknown name
/// does.
bool is_score(std::string_view column);

// The names that measures have everywhere: in files, tables, options.

std::vector<NamedTensor> measure_columns(const DirichletMeasures& measures);
std::vector<NamedTensor> measure_columns(const SoftmaxMeasures& measures);
std::vector<NamedTensor> measure_columns(const EnsembleMeasures& measures);
/// Without I[mu, theta] where it was not estimated.
std::vector<NamedTensor> measure_columns(const DirichletEnsembleMeasures& measures);

}  // namespace priornet
