#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tool/report/results_folder.h"

namespace priornet {

/// Bytes as text (RFC 4648, with padding): for pictures inside a page.
std::string base64(std::string_view bytes);

/// One HTML page for all of the results, which opens from disk and fetches nothing: it contains its script and style,
/// built from web/report, and the table of measures.
std::string report_page(const std::vector<StoredResults>& results);

/// Text escaped for HTML.
std::string escape_html(std::string_view text);

/// JSON escaped for a script element.
std::string escape_json(std::string_view json);

/// The table of measures for the pages, in its order: [{"name", "label", "unit", "direction", "cause", "softmax_cause",
/// "section"}, ...]; then the detectors (detector.h), with "detector": true instead of a section.
nlohmann::ordered_json measure_table_json();

}  // namespace priornet
