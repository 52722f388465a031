#pragma once

#include <priornet/learning/detector.h>

#include <functional>
#include <optional>
#include <vector>

#include "deploy/export/graph.h"

// Detectors (detector.h) in a graph, with what they learnt as constants.

namespace priornet::graph {

/// What detectors look at, as in DetectorInputs.
struct SeenValues {
  Value inputs;                                               ///< as networks take them
  Value logits;                                               ///< float64 [N, K], or [M, N, K]
  bool several = false;                                       ///< whether it is the latter
  int64_t classes = 0;                                        ///< K
  Value energy;                                               ///< float64 [N]
  std::optional<Value> features;                              ///< float32 [N, F] of the first network
  std::vector<Value> layers;                                  ///< float32 [N, 2 C] each: channel_moments of its maps
  std::function<Value(const Value& features)> from_features;  ///< its logits of others, [N, K]
};

/// ArgumentError, which names it, for a detector that no graph can hold.
void check_exportable(const NamedDetector& detector, int64_t classes);

/// float64 [N]: what the detector's score() gives.
Value detector_value(const NamedDetector& detector, const SeenValues& seen);

/// The mean and the root mean square over the pixels of maps [N, C, H, W]: [N, 2 C].
Value channel_moments(const Value& maps);

}  // namespace priornet::graph
