#pragma once

#include <priornet/report/table.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// One self-contained HTML page: no script and nothing from the network, light or dark as the reader's system is,
// readable from a phone's width up. Every text handed over is plain text and is escaped.

namespace priornet {

/// & < > " ' as entities: safe in text and in attributes.
std::string escape_html(std::string_view text);

/// A number that the reader should see first.
struct Highlight {
  std::string value;
  std::string label;
};

struct HtmlFigure {
  std::string svg;          ///< as gnuplot wrote it; its black follows the page's text colour
  std::string description;  ///< for those who cannot see it
  std::string caption;
};

/// A picture of pixels, which are shown as they are and never blended.
struct HtmlPicture {
  std::string png;
  std::string description;  ///< for those who cannot see it
  std::string caption;
};

class HtmlPage {
 public:
  HtmlPage(std::string_view title, std::string_view lead);

  void heading(std::string_view text);
  void paragraph(std::string_view text);
  void list(const std::vector<std::string>& items);
  void highlights(const std::vector<Highlight>& highlights);
  void figure(const HtmlFigure& figure);
  void picture(const HtmlPicture& picture);
  void table(const Table& table);
  /// Names and their values, such as how a run was made.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);

  /// The whole page.
  std::string text() const;

 private:
  std::string title_;
  std::string body_;
  int figures_ = 0;
  int tables_ = 0;
};

}  // namespace priornet
