#pragma once

#include <string_view>

namespace priornet::tool {

/// Writes to standard output. DataError if it cannot be written, as on a full disk.
void print(std::string_view text);

}  // namespace priornet::tool
