#pragma once

#include <cstdint>
#include <string_view>

namespace priornet {

/// 64 bits that change with any byte: to see damage, not to keep out an enemy. As fast as memory is read, so that a
/// prepared copy can be checked whenever it is mapped.
uint64_t content_hash(std::string_view bytes);

}  // namespace priornet
