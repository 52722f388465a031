#pragma once

#include <string>
#include <vector>

#include "tool/experiments/reasons.h"
#include "tool/report/figure.h"

// The three answers of the experiment `reasons` as pictures.

namespace priornet {

struct NamedFigure {
  std::string name;  ///< of its files: "people", "verdicts", "amounts"
  Figure figure;
};

/// Only figures that have something to draw.
std::vector<NamedFigure> reasons_figures(const ReasonsMeans& means);

}  // namespace priornet
