#pragma once

#include <string_view>

namespace priornet {

/// Whether a measure, by its column name, is a confidence: high where the model is sure, so that a detector of
/// uncertain inputs negates it. `max_prob` and `precision` are; the uncertainties are not, nor is an unknown name.
bool is_confidence(std::string_view measure);

}  // namespace priornet
