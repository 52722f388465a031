#pragma once

#include <string>
#include <vector>

namespace priornet::tool {

/// Rows of cells as text in aligned columns: the first column to the left, the others to the right. The first row is
/// the head. Every row has as many cells as the first.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace priornet::tool
