#pragma once

#include <string>
#include <vector>

#include "tool/experiments/reasons.h"
#include "tool/report/figure.h"

// The three answers of the experiment `reasons` as pictures.

namespace priornet {

/// Rank correlation with people, with its interval: one group of points per model, one point per measure.
Figure draw_people(const std::vector<PeopleMean>& rows);

/// One panel per model, one bar per kind of images: the shares of verdicts. "All test images" is left out.
Figure draw_verdicts(const std::vector<VerdictMean>& rows);

/// Expected entropy and mutual information against the number of training images, one line each per model.
Figure draw_amounts(const std::vector<AmountResult>& rows);

struct NamedFigure {
  std::string name;  ///< of its files: "people", "verdicts", "amounts"
  Figure figure;
};

/// Only figures that have something to draw.
std::vector<NamedFigure> reasons_figures(const ReasonsMeans& means);

}  // namespace priornet
