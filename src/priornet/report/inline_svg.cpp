#include <priornet/report/inline_svg.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>

#include <array>

namespace priornet {
namespace {

void remove_element(std::string& svg, std::string_view name) {
  const auto start = svg.find(fmt::format("<{}>", name));
  if (start == std::string::npos) return;
  const auto end_tag = fmt::format("</{}>", name);
  const auto end = svg.find(end_tag, start);
  if (end != std::string::npos) svg.erase(start, end + end_tag.size() - start);
}

}  // namespace

std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view label) {
  const auto start = svg.find("<svg");
  if (start == std::string_view::npos) throw DataError("a picture should be SVG, found no <svg> in it");
  std::string text(svg.substr(start));
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  remove_element(text, "title");
  remove_element(text, "desc");
  // Where an id stands in gnuplot's SVG.
  constexpr std::array<std::string_view, 6> kMarks = {" id='", " id=\"", "href='#", "href=\"#", "url(#", "url('#"};
  std::string result;
  for (size_t at = 0; at < text.size();) {
    bool marked = false;
    for (const auto mark : kMarks) {
      if (text.compare(at, mark.size(), mark) != 0) continue;
      result.append(mark).append(prefix);
      at += mark.size();
      marked = true;
      break;
    }
    if (!marked) result += text[at++];
  }
  result.insert(4, fmt::format(" role=\"img\" aria-label=\"{}\"", label));
  return result;
}

}  // namespace priornet
