#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

// What the documents of the repository say, for tests that compare them with the program's own lists.

namespace priornet {

/// The text of a file of the repository; fails the test if there is none.
inline std::string document(const std::string& path) {
  std::ifstream file(std::string(PRIORNET_SOURCE) + "/" + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The rows of a Markdown table whose heading begins with `heading`; fails the test if there are none.
inline std::vector<std::string> table_rows(const std::string& path, const std::string& heading) {
  std::istringstream lines(document(path));
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (inside && line.starts_with("|")) rows.push_back(line);
    if (inside && !line.starts_with("|")) break;
    if (line.starts_with(heading)) inside = true;
  }
  EXPECT_GT(rows.size(), 1u) << path << ": no table " << heading;
  if (!rows.empty()) rows.erase(rows.begin());  // "|---|"
  return rows;
}

/// As documents write a name.
inline std::string code(std::string_view name) { return "`" + std::string(name) + "`"; }

/// The row whose first cell names it, possibly as one of several names between commas; fails the test if there is none.
inline std::string row_with(const std::vector<std::string>& rows, const std::string& name) {
  for (const auto& row : rows) {
    const auto cell = row.substr(0, row.find('|', 1));
    for (size_t at = cell.find(name); at != std::string::npos; at = cell.find(name, at + 1)) {
      const auto end = at + name.size();
      if ((cell[at - 1] == ' ' || cell[at - 1] == '|') && (end == cell.size() || cell[end] == ' ' || cell[end] == ','))
        return row;
    }
  }
  ADD_FAILURE() << "no row has " << name;
  return "";
}

}  // namespace priornet
