#pragma once

#include <priornet/experiments/image_run.h>
#include <priornet/report/figure.h>

#include <string>
#include <vector>

namespace priornet {

/// How the uncertainty of each model spreads over the sets: differential entropy of a Dirichlet, else entropy.
Figure draw_scores(const ImageResult& result);

/// The images of a set that a model is most certain of (upper row) and least (lower row), as the network sees them.
struct CertaintySheet {
  std::string title;  ///< of the set
  std::string png;
};

/// By the last model's uncertainty as above: the in-distribution set, then the others. DataError in a build without
/// libpng.
std::vector<CertaintySheet> certainty_sheets(const ImageResult& result);

}  // namespace priornet
