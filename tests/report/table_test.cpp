#include "tool/report/table.h"
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

Table small() {
  Table table{"Scores", {"σ", "model", "AUROC"}, {}, {"A note."}};
  table.add({Cell::number(1, 0), "DNN", Cell::number(2.0 / 3.0, 3)});
  table.add({Cell::number(10, 0), "a|b", "-"});
  return table;
}

// Widths count letters, not bytes: the Greek one takes two.
TEST(Table, AlignsItsColumnsAsText) {
  EXPECT_EQ(to_text(small()),
            "Scores\n"
            "\n"
            " σ  model  AUROC\n"
            "──  ─────  ─────\n"
            " 1  DNN    0.667\n"
            "10  a|b        -\n"
            "\n"
            "A note.\n");
}

TEST(Table, EscapesBarsInMarkdown) {
  EXPECT_EQ(to_markdown(small()),
            "**Scores**\n"
            "\n"
            "| σ | model | AUROC |\n"
            "|---:|---|---:|\n"
            "| 1 | DNN | 0.667 |\n"
            "| 10 | a\\|b | - |\n"
            "\n"
            "A note.\n");
}

// A title, a column or a class may be anything that stands in a file of the user. Notes name them too.
TEST(Table, ShowsNamesInMarkdownAsTheyAre) {
  Table table{"*all* <b>", {"R&D"}, {}, {"<b>\nalone tells `a_b` apart"}};
  table.add({"a \\ `x < y` 3 ` 4"});
  EXPECT_EQ(to_markdown(table),
            "**\\*all\\* \\<b>**\n"
            "\n"
            "| R\\&D |\n"
            "|---|\n"
            "| a \\\\ `x < y` 3 \\` 4 |\n"
            "\n"
            "\\<b> alone tells `a_b` apart\n");
}

TEST(Table, EscapesTheStarOfANoteInMarkdown) {
  auto table = small();
  table.notes = {"* Not as published."};
  EXPECT_TRUE(to_markdown(table).ends_with("\n\n\\* Not as published.\n")) << to_markdown(table);
}

TEST(Table, WritesCsvWithFullPrecisionAndQuotes) {
  auto table = small();
  table.add({Cell::number(2, 0), "say \"hi\", twice", Cell::number(0.5, "a half")});
  EXPECT_EQ(to_csv(table),
            "σ,model,AUROC\n"
            "1,DNN,0.6666666666666666\n"
            "10,a|b,-\n"
            "2,\"say \"\"hi\"\", twice\",0.5\n");
  table.rows = {{"two\nlines", "", "-"}};
  EXPECT_EQ(to_csv(table), "σ,model,AUROC\ntwo\\nlines,,-\n") << "as every CSV of ours: one line per row";
}

TEST(Table, WritesNumbersAsNumbersInJson) {
  auto table = small();
  table.add({Cell::number(3, 0), "NaN", Cell::number(std::numeric_limits<double>::quiet_NaN(), 3)});
  const auto json = nlohmann::json::parse(to_json(table));
  EXPECT_EQ(json["title"], "Scores");
  EXPECT_EQ(json["rows"][0]["AUROC"], 2.0 / 3.0);
  EXPECT_EQ(json["rows"][1]["AUROC"], "-");
  EXPECT_TRUE(json["rows"][2]["AUROC"].is_null());
  EXPECT_EQ(json["notes"][0], "A note.");
}

TEST(Table, IsATableOfLatex) {
  auto table = small();
  table.notes = {"100 % of `a_b`"};
  table.add({"2", "R&D #1", Cell::number(0.5, "0.50 ± 0.01")});
  EXPECT_EQ(to_latex(table),
            "\\begin{table}\n\\centering\n\\caption{Scores}\n\\begin{tabular}{rlr}\n\\toprule\n"
            "$\\sigma$ & model & AUROC \\\\\n\\midrule\n"
            "1 & DNN & 0.667 \\\\\n10 & a\\textbar{}b & - \\\\\n2 & R\\&D \\#1 & 0.50 $\\pm$ 0.01 \\\\\n"
            "\\bottomrule\n\\end{tabular}\n"
            "\\par\\smallskip\\footnotesize 100 \\% of \\texttt{a\\_b}\n\\end{table}\n");
}

TEST(Table, WantsACellAColumn) {
  auto table = small();
  EXPECT_THROWS(ArgumentError, table.add({"alone"}), "Table::add: row should be of 3 cells, found 1");
}

}  // namespace
}  // namespace priornet
