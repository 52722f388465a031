#pragma once

#include <priornet/data/arrays/named_tensor.h>
#include <priornet/dirichlet/ensembles.h>
#include <priornet/dirichlet/measures.h>

#include <vector>

// The names that measures have everywhere: in files, tables, options.

namespace priornet {

std::vector<NamedTensor> measure_columns(const DirichletMeasures& measures);
std::vector<NamedTensor> measure_columns(const SoftmaxMeasures& measures);
std::vector<NamedTensor> measure_columns(const EnsembleMeasures& measures);
/// Without I[mu, theta] where it was not estimated.
std::vector<NamedTensor> measure_columns(const DirichletEnsembleMeasures& measures);

}  // namespace priornet
