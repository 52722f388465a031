#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// The name that is the fewest insertions, deletions and exchanges of letters away, if it is close enough to be what
/// was meant; else empty.
std::string nearest_name(std::string_view name, const std::vector<std::string>& names);

}  // namespace priornet
