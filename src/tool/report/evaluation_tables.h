#pragma once

#include <priornet/learning/evaluation.h>

#include <vector>

#include "tool/report/table.h"

namespace priornet {

/// For people: the classifier; misclassification and rejection; one table per out-of-distribution set with its
/// trivial-statistics number; the comparison, if there is one. Shares in percent, 95 % intervals in brackets.
std::vector<Table> evaluation_tables(const EvaluationReport& report);

/// For machines: one row for each task, set and measure, with its metrics and intervals as fractions.
Table evaluation_rows(const EvaluationReport& report);

}  // namespace priornet
