#pragma once

#include <priornet/report/results_folder.h>

#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// One page of HTML for all of the results that opens from disk and fetches nothing: its script and style, built from
/// web/report, are part of it.
std::string report_page(const std::vector<StoredResults>& results);

/// Text as it may stand in HTML.
std::string escape_html(std::string_view text);

/// JSON as it may stand in a script element.
std::string escape_json(std::string_view json);

}  // namespace priornet
