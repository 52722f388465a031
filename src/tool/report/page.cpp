#include "tool/report/page.h"

#include <priornet/learning/detector.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "learning/base/names.h"
#include "tool/base/embedded_files.h"

namespace priornet {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t first = 0; first < bytes.size(); first += 3) {
    const auto count = std::min<size_t>(3, bytes.size() - first);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? static_cast<uint8_t>(bytes[first + i]) : uint32_t{0});
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

namespace {

// Whatever a text may contain, the browser fetches nothing.
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
  return replaced(printable(text, "\n\t"), "&<>\"'", [](char character) -> std::string_view {
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
  page += embedded_file("web/report/dist/report.css");
  page +=
      "</style>\n</head>\n<body>\n<div id=\"report\"><noscript>This page draws its tables and charts with JavaScript. "
      "Without it: priornet report --format markdown.</noscript></div>\n"
      "<script type=\"application/json\" id=\"measures\">";
  page += escape_json(measure_table_json().dump());
  page += "</script>\n<script type=\"application/json\" id=\"results\">[";
  for (size_t i = 0; i < results.size(); ++i) {
    if (i > 0) page += ",\n";
    page += escape_json(results[i].document);
  }
  page += "]</script>\n<script>\n";
  page += embedded_file("web/report/dist/report.js");
  return page + "</script>\n</body>\n</html>\n";
}

nlohmann::ordered_json measure_table_json() {
  auto table = nlohmann::ordered_json::array();
  for (const auto& measure : measure_table())
    table.push_back({{"name", measure.name},
                     {"label", measure.label},
                     {"unit", measure.unit},
                     {"direction", name_of(measure.direction)},
                     {"cause", name_of(measure.cause)},
                     {"softmax_cause", name_of(measure.softmax_cause)},
                     {"section", measure.section}});
  for (const auto& detector : detector_table())
    if (!detector.is_measure && find_measure_by_name(detector.name) == nullptr)
      table.push_back({{"name", detector.name},
                       {"label", detector.label},
                       {"unit", ""},
                       {"direction", name_of(detector.direction)},
                       {"cause", name_of(detector.cause)},
                       {"softmax_cause", name_of(detector.cause)},
                       {"detector", true}});
  return table;
}

}  // namespace priornet
