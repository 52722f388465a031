#pragma once

#include <string>
#include <string_view>

namespace priornet {

/// Bytes as text (RFC 4648, with padding): for pictures inside a page.
std::string base64(std::string_view bytes);

}  // namespace priornet
