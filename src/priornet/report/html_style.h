#pragma once

#include <string_view>

namespace priornet {

/// The style sheet of every report page.
extern const std::string_view kHtmlStyle;

}  // namespace priornet
