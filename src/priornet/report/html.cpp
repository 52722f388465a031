#include <priornet/report/html.h>

#include <fmt/format.h>
#include <priornet/report/base64.h>
#include <priornet/report/html_style.h>
#include <priornet/report/inline_svg.h>

namespace priornet {

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += character;
    }
  }
  return result;
}

HtmlPage::HtmlPage(std::string_view title, std::string_view lead)
    : title_(escape_html(title)),
      body_(fmt::format("<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n</header>\n", title_, escape_html(lead))) {}

void HtmlPage::heading(std::string_view text) { body_ += fmt::format("<h2>{}</h2>\n", escape_html(text)); }

void HtmlPage::paragraph(std::string_view text) { body_ += fmt::format("<p>{}</p>\n", escape_html(text)); }

void HtmlPage::list(const std::vector<std::string>& items) {
  body_ += "<ul>\n";
  for (const auto& item : items) body_ += fmt::format("<li>{}</li>\n", escape_html(item));
  body_ += "</ul>\n";
}

void HtmlPage::highlights(const std::vector<Highlight>& highlights) {
  body_ += "<dl class=\"highlights\">\n";
  for (const auto& [value, label] : highlights)
    body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(label), escape_html(value));
  body_ += "</dl>\n";
}

void HtmlPage::figure(const HtmlFigure& figure) {
  const auto prefix = fmt::format("figure{}-", ++figures_);
  body_ += fmt::format(
      "<figure>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Figure, scrolls sideways\">{}</div>\n"
      "<figcaption>{}</figcaption>\n</figure>\n",
      inline_svg(figure.svg, prefix, escape_html(figure.description)), escape_html(figure.caption));
}

void HtmlPage::picture(const HtmlPicture& picture) {
  body_ += fmt::format(
      "<figure>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Picture, scrolls sideways\">"
      "<img class=\"pixels\" alt=\"{}\" src=\"data:image/png;base64,{}\"></div>\n<figcaption>{}</figcaption>\n"
      "</figure>\n",
      escape_html(picture.description), base64(picture.png), escape_html(picture.caption));
}

void HtmlPage::table(const Table& table) {
  // The title stands outside what scrolls, so that a narrow page shows all of it.
  const auto id = fmt::format("table{}", ++tables_);
  body_ += fmt::format(
      "<div class=\"card\">\n<p class=\"title\" id=\"{}\">{}</p>\n"
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"{}\">\n<table aria-labelledby=\"{}\">\n",
      id, escape_html(table.title), id, id);
  body_ += "<thead><tr>";
  const auto numeric = numeric_columns(table);
  const auto align = [&](size_t c) { return numeric[c] ? " class=\"number\"" : ""; };
  for (size_t c = 0; c < table.columns.size(); ++c)
    body_ += fmt::format("<th scope=\"col\"{}>{}</th>", align(c), escape_html(table.columns[c]));
  body_ += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    body_ += "<tr>";
    for (size_t c = 0; c < row.size(); ++c) body_ += fmt::format("<td{}>{}</td>", align(c), escape_html(row[c].text()));
    body_ += "</tr>\n";
  }
  body_ += "</tbody>\n</table>\n</div>\n</div>\n";
  for (const auto& note : table.notes) body_ += fmt::format("<p class=\"note\">{}</p>\n", escape_html(note));
}

void HtmlPage::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  body_ += "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts)
    body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(name), escape_html(value));
  body_ += "</dl>\n";
}

std::string HtmlPage::text() const {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n"
      "<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      title_, kHtmlStyle, body_);
}

}  // namespace priornet
