#include <priornet/report/inline_svg.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>

#include <array>
#include <cstdlib>

namespace priornet {
namespace {

void remove_element(std::string& svg, std::string_view name) {
  const auto start = svg.find(fmt::format("<{}>", name));
  if (start == std::string::npos) return;
  const auto end_tag = fmt::format("</{}>", name);
  const auto end = svg.find(end_tag, start);
  if (end != std::string::npos) svg.erase(start, end + end_tag.size() - start);
}

/// From viewBox="0 0 WIDTH HEIGHT".
double width_of(std::string_view svg) {
  constexpr std::string_view kMark = "viewBox=\"0 0 ";
  const auto at = svg.find(kMark);
  return at == std::string_view::npos ? 0.0 : std::strtod(svg.data() + at + kMark.size(), nullptr);
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
  auto attributes = fmt::format(" role=\"img\" aria-label=\"{}\"", label);
  // Not larger than drawn, and not so small that its text cannot be read: a narrow page scrolls it instead.
  if (const double width = width_of(result); width > 0)
    attributes += fmt::format(" style=\"max-width:{:.0f}px;min-width:{:.0f}px\"", width, 0.55 * width);
  result.insert(4, attributes);
  return result;
}

}  // namespace priornet
