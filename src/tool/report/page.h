#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool/report/results_folder.h"

namespace priornet {

/// Bytes as text (RFC 4648, with padding): for pictures inside a page.
std::string base64(std::string_view bytes);

/// One page of HTML for all of the results that opens from disk and fetches nothing: its script and style, built from
/// web/report, are part of it, and so is the table of measures.
std::string report_page(const std::vector<StoredResults>& results);

/// Text as it may stand in HTML.
std::string escape_html(std::string_view text);

/// JSON as it may stand in a script element.
std::string escape_json(std::string_view json);

}  // namespace priornet
