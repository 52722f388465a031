#include "tool/report/page.h"
#include <gtest/gtest.h>
#include <priornet/learning/detector.h>
#include <priornet/uncertainty/measure_table.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

constexpr const char* kHostile = "</script><script>alert('&\"')</script><!--";

StoredResults small_results(const std::string& title) {
  StoredResults results;
  results.title = title;
  results.document = nlohmann::json{{"title", title}, {"tables", nlohmann::json::array()}}.dump();
  return results;
}

/// The page without the built-in script, which contains texts of other projects.
std::string own_part(const std::string& page) {
  const auto data = page.find("<script type=\"application/json\"");
  return page.substr(0, page.find("<style>")) + page.substr(data, page.find("<script>\n", data) - data);
}

nlohmann::json json_of(const std::string& page, const std::string& id) {
  const auto mark = "id=\"" + id + "\">";
  const auto begin = page.find(mark) + mark.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(EscapeHtml, LeavesNothingThatHtmlReads) {
  EXPECT_EQ(escape_html("a < b & 'c' > \"d\""), "a &lt; b &amp; &#39;c&#39; &gt; &quot;d&quot;");
  EXPECT_EQ(escape_html("α₀ = 1"), "α₀ = 1");
}

TEST(ReportPage, HoldsTheResultsWhateverIsInThem) {
  const auto page = own_part(report_page({small_results(kHostile), small_results("second")}));
  EXPECT_EQ(page.find("alert('"), page.rfind("alert('")) << "only inside the JSON";
  const auto json = json_of(page, "results");
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["title"], kHostile);
  EXPECT_EQ(json[1]["title"], "second");
}

TEST(ReportPage, HoldsTheTableOfMeasures) {
  const auto json = json_of(report_page({small_results("Title")}), "measures");
  ASSERT_GT(json.size(), measure_table().size()) << "detectors come after the measures";
  for (size_t m = 0; m < measure_table().size(); ++m) {
    EXPECT_EQ(json[m]["name"], measure_table()[m].name);
    EXPECT_EQ(json[m]["label"], measure_table()[m].label);
    EXPECT_FALSE(json[m]["label"].get<std::string>().empty()) << json[m]["name"];
    EXPECT_EQ(json[m]["unit"], measure_table()[m].unit);
    EXPECT_EQ(json[m]["direction"], name_of(measure_table()[m].direction));
  }
  for (size_t d = measure_table().size(); d < json.size(); ++d) {
    const auto* detector = find_detector(json[d]["name"].get<std::string>());
    ASSERT_NE(detector, nullptr) << json[d];
    EXPECT_EQ(json[d]["label"], detector->label);
    EXPECT_EQ(json[d]["detector"], true);
  }
}

TEST(ReportPage, FetchesNothing) {
  const auto page = report_page({small_results("Title")});
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const auto* part : {"<script src", "<link rel=\"stylesheet", "@import", "url(http"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  EXPECT_NE(page.find("<title>Title</title>"), std::string::npos);
}

}  // namespace
}  // namespace priornet
