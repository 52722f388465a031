#include <priornet/report/front_end.h>
#include <priornet/report/page.h>

namespace priornet {
namespace {

// Whatever a text may smuggle in, the browser fetches nothing.
constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
)";

std::string replaced(std::string_view text, std::string_view special, std::string_view (*replacement)(char)) {
  std::string result;
  for (const char character : text) {
    if (special.find(character) == std::string_view::npos)
      result += character;
    else
      result += replacement(character);
  }
  return result;
}

std::string title_of(const std::vector<StoredResults>& results) {
  return results.size() == 1 && !results.front().title.empty() ? results.front().title : "Prior Networks: results";
}

}  // namespace

std::string escape_html(std::string_view text) {
  return replaced(text, "&<>\"'", [](char character) -> std::string_view {
    switch (character) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      default:
        return "&#39;";
    }
  });
}

std::string escape_json(std::string_view json) {
  return replaced(json, "<", [](char) -> std::string_view { return "\\u003c"; });
}

std::string report_page(const std::vector<StoredResults>& results) {
  std::string page(kHead);
  page += "<title>" + escape_html(title_of(results)) + "</title>\n<style>\n";
  page += report_style();
  page +=
      "</style>\n</head>\n<body>\n<div id=\"report\"><noscript>This page draws its tables and charts with JavaScript. "
      "Without it: priornet report --format markdown.</noscript></div>\n"
      "<script type=\"application/json\" id=\"results\">[";
  for (size_t i = 0; i < results.size(); ++i) {
    if (i > 0) page += ",\n";
    page += escape_json(results[i].document);
  }
  page += "]</script>\n<script>\n";
  page += report_script();
  return page + "</script>\n</body>\n</html>\n";
}

}  // namespace priornet
