#include <priornet/core/errors.h>
#include <priornet/report/html.h>
#include <priornet/report/inline_svg.h>
#include <testing/throws.h>

namespace priornet {
namespace {

constexpr const char* kHostile = "<script>alert('&\"')</script>";

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(EscapeHtml, LeavesNothingThatHtmlReads) {
  EXPECT_EQ(escape_html("a < b & 'c' > \"d\""), "a &lt; b &amp; &#39;c&#39; &gt; &quot;d&quot;");
  EXPECT_EQ(escape_html("α₀ = 1"), "α₀ = 1");
}

TEST(HtmlPage, EscapesEveryTextItIsGiven) {
  HtmlPage page(kHostile, kHostile);
  page.heading(kHostile);
  page.paragraph(kHostile);
  page.list({kHostile});
  page.highlights({{kHostile, kHostile}});
  page.figure({"<svg></svg>", kHostile, kHostile});
  Table table{kHostile, {kHostile}, {}, {kHostile}};
  table.add({kHostile});
  page.table(table);
  page.facts({{kHostile, kHostile}});
  EXPECT_FALSE(contains(page.text(), "<script"));
  EXPECT_FALSE(contains(page.text(), "alert('"));
}

// Names that look like an address are allowed only where XML defines its namespaces.
TEST(HtmlPage, FetchesNothing) {
  HtmlPage page("Title", "Lead");
  page.figure({"<svg viewBox=\"0 0 10 10\"></svg>", "a", "b"});
  for (const auto* part : {"src=", "@import", "url(http", "<link", "<script", "http://", "https://"})
    EXPECT_FALSE(contains(page.text(), part)) << part;
  EXPECT_TRUE(contains(page.text(), "prefers-color-scheme: dark"));
  EXPECT_TRUE(contains(page.text(), "<meta name=\"viewport\""));
}

TEST(HtmlPage, AlignsNumbersToTheRight) {
  HtmlPage page("Title", "Lead");
  Table table{"T", {"name", "value"}, {}, {}};
  table.add({"x", Cell::number(0.25, 2)});
  page.table(table);
  EXPECT_TRUE(contains(page.text(), "<td>x</td><td class=\"number\">0.25</td>"));
}

TEST(InlineSvg, KeepsTheNamesOfTwoPicturesApart) {
  const std::string svg =
      "<?xml version=\"1.0\"?>\n<svg viewBox=\"0 0 200 100\"><title>Gnuplot</title><desc>x</desc>"
      "<g id='a'/><g id=\"b\"/><use xlink:href='#a'/><path clip-path=\"url(#b)\"/></svg>\n";
  EXPECT_EQ(
      inline_svg(svg, "f1-", "A label"),
      "<svg role=\"img\" aria-label=\"A label\" style=\"max-width:200px;min-width:110px\" viewBox=\"0 0 200 100\">"
      "<g id='f1-a'/><g id=\"f1-b\"/><use xlink:href='#f1-a'/><path clip-path=\"url(#f1-b)\"/></svg>");
}

TEST(InlineSvg, RejectsWhatIsNoSvg) {
  EXPECT_THROWS(DataError, inline_svg("PNG", "f1-", "x"), "a picture should be SVG, found no <svg> in it");
}

}  // namespace
}  // namespace priornet
