#pragma once

#include <string>
#include <string_view>

namespace priornet {

/// A stand-alone SVG file as an element of an HTML page: without its XML declaration, its own title (a browser would
/// show it as a tooltip) and description; every id and every reference to one prefixed, so that several pictures do
/// not meet; named `label` (escaped already) for assistive technology; with bounds on
/// the width it is shown at.
std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view label);

}  // namespace priornet
