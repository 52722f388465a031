#pragma once

#include <nlohmann/json_fwd.hpp>

namespace priornet {

/// The table of measures for the pages, in its order: [{"name", "label", "unit", "direction", "cause", "softmax_cause",
/// "section"}, ...]; then the detectors (detector.h), with "detector": true instead of a section.
nlohmann::ordered_json measure_table_json();

}  // namespace priornet
