#pragma once

#include <string_view>

namespace priornet {

/// The commit this library was built from, "-dirty" behind it where files differed; "unknown" outside a repository.
/// Its source is written by cmake/source_commit.cmake at each build in which it changes.
std::string_view source_commit();

}  // namespace priornet
