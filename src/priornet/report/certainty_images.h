#pragma once

#include <priornet/data/dataset.h>
#include <priornet/runs/scoring.h>

#include <cstdint>
#include <string>
#include <vector>

// The inputs that a model is most and least certain of, as pixels with what it says of them.

namespace priornet {

struct CertaintySet {
  std::string title;
  const Dataset* set = nullptr;  ///< images
  const SetScores* scores = nullptr;
};

struct CertaintyOptions {
  uint64_t seed = 0;
  std::string model;
  int64_t count = 6;  ///< of each kind and set
};

/// JSON: {"seed", "model", "measure", "classes", "shape", "sets"}; the first set is the in-distribution one, whose
/// shape the others are brought to. Of each set the pixels (base64 of uint8 [N, C, H, W], the most certain first, then
/// the least certain), and of each image its value of the measure (differential entropy, else entropy), the class, the
/// label where the set has labels of these classes, and `alpha`, the concentrations; of a model without a precision
/// `p`, the probabilities.
std::string certainty_json(const std::vector<CertaintySet>& sets, const CertaintyOptions& options);

}  // namespace priornet
