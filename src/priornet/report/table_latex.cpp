#include <fmt/format.h>
#include <priornet/report/table.h>

#include <array>
#include <string_view>
#include <utility>

namespace priornet {
namespace {

// Latin letters with accents pass as they are; these do not, in a document without further packages.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kLatex = {{{"\\", "\\textbackslash{}"},
                                                                                   {"&", "\\&"},
                                                                                   {"%", "\\%"},
                                                                                   {"$", "\\$"},
                                                                                   {"#", "\\#"},
                                                                                   {"_", "\\_"},
                                                                                   {"{", "\\{"},
                                                                                   {"}", "\\}"},
                                                                                   {"~", "\\textasciitilde{}"},
                                                                                   {"^", "\\textasciicircum{}"},
                                                                                   {"<", "$<$"},
                                                                                   {">", "$>$"},
                                                                                   {"|", "\\textbar{}"},
                                                                                   {"\n", " "},
                                                                                   {"±", "$\\pm$"},
                                                                                   {"σ", "$\\sigma$"},
                                                                                   {"α", "$\\alpha$"},
                                                                                   {"−", "$-$"},
                                                                                   {"–", "--"},
                                                                                   {"₀", "$_0$"}}};

std::string latex(std::string_view text) {
  std::string result;
  bool in_code = false;
  while (!text.empty()) {
    size_t taken = 1;
    std::string_view written = text.substr(0, 1);
    if (text.front() == '`') {  // `code`
      written = in_code ? "}" : "\\texttt{";
      in_code = !in_code;
    }
    for (const auto& [plain, command] : kLatex) {
      if (!text.starts_with(plain)) continue;
      taken = plain.size();
      written = command;
      break;
    }
    result += written;
    text.remove_prefix(taken);
  }
  return in_code ? result + "}" : result;
}

}  // namespace

std::string to_latex(const Table& table) {
  std::string result = "\\begin{table}\n\\centering\n";
  if (!table.title.empty()) result += fmt::format("\\caption{{{}}}\n", latex(table.title));
  result += "\\begin{tabular}{";
  for (const bool to_the_right : numeric_columns(table)) result += to_the_right ? 'r' : 'l';
  result += "}\n\\toprule\n";
  const auto line = [&](size_t count, const auto& text_of_column) {
    for (size_t c = 0; c < count; ++c) {
      if (c > 0) result += " & ";
      result += latex(text_of_column(c));
    }
    result += " \\\\\n";
  };
  line(table.columns.size(), [&](size_t c) { return table.columns[c]; });
  result += "\\midrule\n";
  for (const auto& row : table.rows) line(row.size(), [&](size_t c) { return row[c].text(); });
  result += "\\bottomrule\n\\end{tabular}\n";
  for (const auto& note : table.notes) result += fmt::format("\\par\\smallskip\\footnotesize {}\n", latex(note));
  return result + "\\end{table}\n";
}

}  // namespace priornet
