#include <testing/tool.h>
#include "tool/report/figure.h"
#include "tool/report/table.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

/// A folder as `reproduce` leaves it, of one table.
std::string stored_results(const InputFiles& files, const std::string& name) {
  std::filesystem::create_directories(files / name);
  Table table{"Errors", {"model", "error"}, {}, {}};
  table.add({"DPN", Cell::number(0.61, "0.61", {0.5, 0.7, 0.6, true})});
  const nlohmann::ordered_json json = {{"title", "Title of " + name},
                                       {"tables", {nlohmann::ordered_json::parse(store_table(table))}}};
  files.file(name + "/results.json", json.dump());
  return (files / name).string();
}

TEST(Report, WritesOnePageOfSeveralFolders) {
  const InputFiles files;
  const auto first = stored_results(files, "first"), second = stored_results(files, "second");
  const auto out = (files / "page.html").string();
  const auto done = run_tool({"report", first, second, "--out", out});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "Written: " + out + "\n");
  const auto page = bytes_of(out);
  for (const auto* part : {"<!doctype html>", "Title of first", "Title of second", "\"published\":0.6"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_LT(page.size(), 1u << 20);
}

TEST(Report, PrintsEveryTable) {
  const InputFiles files;
  const auto folder = stored_results(files, "one");
  EXPECT_EQ(run_tool({"report", folder, "--format", "markdown"}).out,
            "# Title of one\n\n**Errors**\n\n| model | error |\n|---|---:|\n| DPN | 0.61 |\n");
  EXPECT_EQ(run_tool({"report", folder, "--format", "csv"}).out,
            "table,row,column,value,low,high,published\nTitle of one: Errors,DPN,error,0.61,0.5,0.7,0.6\n");
  const auto latex = run_tool({"report", folder, "--format", "latex"}).out;
  EXPECT_NE(latex.find("DPN & 0.61 \\\\"), std::string::npos) << latex;
}

TEST(Report, DrawsReasons) {
  const InputFiles files;
  const auto folder = stored_results(files, "reasons");
  expect_failure(run_tool({"report", folder, "--format", "svg"}),
                 "nothing to draw: only results of priornet reproduce reasons have such figures");
  auto json = nlohmann::ordered_json::parse(bytes_of(files / "reasons/results.json"));
  const nlohmann::ordered_json part = {{"value", 0.3}, {"low", 0.2}, {"high", 0.4}};
  json["reasons"] = {
      {"people", nlohmann::json::array()},
      {"verdicts", nlohmann::json::array()},
      {"amounts", {{{"model", "DPN"}, {"images", 500}, {"error", 0.8}, {"data", part}, {"knowledge", part}}}}};
  files.file("reasons/results.json", json.dump());
  const auto out = files / "figures";
  const auto done = run_tool({"report", folder, "--format", "svg", "--out", out.string()});
  if (!can_render()) return expect_failure(done, std::string(kNoGnuplot));
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "Written: " + (out / "amounts.svg").string() + "\n");
  EXPECT_NE(bytes_of(out / "amounts.svg").find("DPN: mutual information"), std::string::npos);
  json["reasons"].erase("people");
  files.file("reasons/results.json", json.dump());
  EXPECT_NE(run_tool({"report", folder, "--format", "svg", "--out", out.string()}).status, 0);
}

TEST(Report, SaysWhereItFoundNothing) {
  const InputFiles files;
  const auto none = (files / "").string();
  expect_failure(
      run_tool({"report", none}),
      none +
          ": holds no results: there should be a results.json, as priornet reproduce leaves in its folder and "
          "priornet evaluate in RUN/evaluation");
  EXPECT_EQ(run_tool({"report"}).status, 2);
  EXPECT_EQ(run_tool({"report", none, "--format", "pdf"}).status, 2);
}

}  // namespace
}  // namespace priornet
