#pragma once

#include <priornet/report/table.h>

#include <string>
#include <string_view>

// Tables inside results.json, with all that makes them: texts, numbers, and what the numbers are read beside.

namespace priornet {

/// {"title", "columns", "rows", "notes"}, rows being lists of cells; a cell is its text, or an object {"text", "value"}
/// with "low", "high", "published" and "lower_is_better" where it has them. A value that is not finite is null.
std::string store_table(const Table& table);

/// The table again. DataError, opened by `where`, for JSON that is no such table.
Table restore_table(std::string_view json, const std::string& where);

/// Every number of the tables, a row each: which table, row (its texts) and column; value, ends of the interval,
/// published. Tables of any shape so become one CSV.
Table long_form(const std::vector<Table>& tables);

}  // namespace priornet
