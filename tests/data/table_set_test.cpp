#include "learning/sets/table_set.h"
#include <priornet/uncertainty/errors.h>
#include <testing/gzip_bytes.h>
#include <testing/temporary_folder.h>
#include <testing/tensors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

using Names = std::vector<std::string>;

Dataset table_of(const std::string& text, const std::string& label = "") {
  TableOptions options;
  options.label = label;
  return read_table("a.csv", text, options);
}

TEST(ReadTable, ReadsNumbersAndTheirNames) {
  const auto set = table_of("x,y\n1,2.5\n-3,4e-3\n");
  EXPECT_TRUE(set.inputs.equal(torch::tensor({1.0f, 2.5f, -3.0f, 4e-3f}).view({2, 2})));
  EXPECT_EQ(set.feature_names, Names({"x", "y"}));
  EXPECT_FALSE(set.has_labels());
  EXPECT_NO_THROW(check_dataset(set));
}

TEST(ReadTable, MakesClassesOfTheTextsOfAColumn) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.csv.gz", gzip_bytes("x,\"kind, of\",y\r\n1,virginica,2\r\n3,\"a \"\"b\"\"\",4\r\n"
                                                       "5, virginica ,6\r\n"));
  TableOptions options;
  options.label = "kind, of";
  const auto set = read_table(path, options);
  EXPECT_TRUE(set.inputs.equal(torch::arange(1, 7, torch::kFloat32).view({3, 2})));
  EXPECT_EQ(set.feature_names, Names({"x", "y"}));
  EXPECT_EQ(set.class_names, Names({"a \"b\"", "virginica"}));
  EXPECT_TRUE(set.labels.equal(torch::tensor({1, 0, 1}, torch::kInt64)));
  EXPECT_NO_THROW(check_dataset(set));
}

TEST(ReadTable, SortsNumbersAsNumbersAndTextAsText) {
  const auto numbers = table_of("x,k\n1,10\n0,9\n0,9.0\n0,-1.5\n", "k");
  EXPECT_EQ(numbers.class_names, Names({"-1.5", "9", "10"}));
  EXPECT_TRUE(numbers.labels.equal(torch::tensor({2, 1, 1, 0}, torch::kInt64)));
  EXPECT_EQ(table_of("x,k\n1,10\n0,9\n0,ten\n", "k").class_names, Names({"10", "9", "ten"}));
}

TEST(ReadTable, KeepsLabelsApartThatAreDifferentTexts) {
  EXPECT_EQ(table_of("x,k\n1,007\n0,7\n", "k").class_names, Names({"007", "7"}));
  EXPECT_EQ(table_of("x,k\n1,12345678901234567\n0,12345678901234568\n", "k").class_names,
            Names({"12345678901234567", "12345678901234568"}));
}

TEST(ReadTable, MakesOneClassOfLabelsThatAreShownAlike) {
  const auto set = table_of(
      "x,k\n1,e\x01"
      "m\n0,e\\x01m\n2,e\x01"
      "m\n",
      "k");
  EXPECT_EQ(set.class_names, Names({"e\\x01m"}));
  EXPECT_TRUE(set.labels.equal(torch::zeros({3}, torch::kInt64)));
}

// Spreadsheets write a line break within a name so.
TEST(ReadTable, FindsTheSeparatorBehindALineBreakInQuotes) {
  const auto set = table_of("\"Net\namount\";y;k\n1;2;a\n3;4;b\n", "k");
  EXPECT_EQ(set.feature_names, Names({"Net\\namount", "y"}));
  EXPECT_EQ(set.size(), 2);
}

TEST(ReadTable, TakesAnEmptyValueInQuotesForARow) {
  EXPECT_EQ(table_of("x\n5\n\"\"\n\n-5\n").size(), 3) << "a blank line is none";
}

TEST(ReadTable, FindsLevelsThatComeLate) {
  std::string text = "x,k\n";
  for (int i = 0; i < 70000; ++i) text += "once" + std::to_string(i) + (i % 2 == 0 ? ",a\n" : ",b\n");
  for (int i = 0; i < 70000; ++i) text += i % 2 == 0 ? "good,a\n" : "bad,b\n";
  const auto set = table_of(text, "k");
  ASSERT_EQ(set.encoding->columns[0].type, ColumnType::kCategory);
  EXPECT_EQ(set.encoding->columns[0].levels, Names({"bad", "good"}));
}

TEST(ReadTable, SaysWhereFloat32IsTooCoarse) {
  Names notes;
  TableOptions options;
  options.notes = &notes;
  read_table("a.csv", "when,x\n1712000000,1\n1712000059,2\n", options);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(
      notes[0],
      "a.csv: column when: 1.712e+09 to 1.712e+09: networks tell such numbers apart only in steps of 128: subtract "
      "a constant");
}

TEST(ReadTable, TakesDecimalCommasAsTheTableHasThemNotAsInTraining) {
  Names notes;
  const auto read_by = [&](const Dataset& model, const std::string& text) {
    TableOptions options;
    options.label = "k";
    options.encoding = model.encoding.get();
    options.notes = &notes;
    return read_table("new.csv", text, options).inputs.item<float>();
  };
  EXPECT_EQ(read_by(table_of("x,k\n1.5,a\n2.5,b\n", "k"), "x;k\n3,25;a\n"), 3.25f);
  EXPECT_TRUE(notes.empty());
  const auto with_commas = table_of("x;k\n1,5;a\n2,5;b\n3,5;a\n", "k");
  EXPECT_EQ(read_by(with_commas, "x,k\n3.25,a\n"), 3.25f);
  EXPECT_EQ(read_by(with_commas, "x,k\n\"1,234\",a\n"), 2.5f) << "a missing value becomes the median";
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("\"1,234\" is not a number"), std::string::npos) << notes[0];
}

TEST(ReadTable, SaysThatNoRowHasALabel) {
  EXPECT_THROWS(DataError, table_of("x,k\n1,\n2,NA\n", "k"), "a.csv: none of its 2 rows has a label in column k");
}

TEST(ReadTable, NamesTheLineOfWhatIsWrong) {
  EXPECT_THROWS(DataError, table_of("x,y\n1,2,3\n"), "a.csv: line 2 has 3 values, line 1 has 2");
  EXPECT_THROWS(DataError, table_of("x,y\n\n1\n", "y"), "a.csv: line 3 has 1 value, line 1 has 2");
  EXPECT_THROWS(DataError, table_of("x,y\n\"1\n1\",2\n3,4,5\n"), "a.csv: line 4 has 3 values, line 1 has 2");
  EXPECT_THROWS(DataError, table_of("x,y\n1,2\n3,\"4\n"), "a.csv: line 3 holds a quote that is not closed");
  EXPECT_THROWS(DataError, table_of("\xff\xfex"), "a.csv: is in UTF-16: save the table as UTF-8");
}

TEST(ReadTable, LeavesOutRowsWithoutALabelAndSaysSo) {
  Names notes;
  TableOptions options;
  options.label = "k";
  options.notes = &notes;
  const auto set = read_table("a.csv", "x,k\n1,a\n2,\n3,b\n4,NA\n", options);
  EXPECT_TRUE(set.inputs.equal(torch::tensor({{1.0f}, {3.0f}})));
  EXPECT_EQ(notes, Names({"a.csv: 2 rows without a label are left out"}));
}

TEST(ReadTable, FindsSemicolonsTabsAndBars) {
  for (const auto* text : {"x;y\n1,5;2\n3;4,25\n", "x\ty\n1.5\t2\n3\t4.25\n", "x|y\n1.5|2\n3|4.25\n"})
    EXPECT_TRUE(table_of(text).inputs.equal(torch::tensor({{1.5f, 2.0f}, {3.0f, 4.25f}}))) << text;
  // A comma in quotes separates nothing.
  EXPECT_EQ(table_of("\"a,b,c\";d\n1;2\n3;5\n").feature_names, Names({"a,b,c", "d"}));
}

// The reader takes a quarter of a megabyte at a time; some rows, also with quoted line breaks, begin in one piece and
// end in the next.
TEST(ReadTable, ReadsRowsWhereverPiecesEnd) {
  std::string text = "x,word\n";
  constexpr int kRows = 60'000;
  for (int i = 0; i < kRows; ++i)
    text += std::to_string(i % 977) + (i % 3 == 0 ? ",\"a \"\"b\"\"\n, c\"\n" : ",plain\r\n");
  const auto set = table_of(text);
  ASSERT_EQ(set.size(), kRows);
  EXPECT_EQ(set.encoding->columns[1].levels, Names({"plain", "a \"b\"\n, c"}));
  EXPECT_TRUE(set.inputs.select(1, 0).equal(torch::arange(kRows).remainder(977).to(torch::kFloat32)));
}

// Spreadsheets also write Latin-1 and UTF-16.
TEST(ReadTable, TakesTextInUtf8Alone) {
  EXPECT_EQ(table_of("x,k\n1,gro\u00df\n2,\u20ac \U0001f600\n", "k").class_names,
            Names({"gro\u00df", "\u20ac \U0001f600"}));
  EXPECT_THROWS(DataError, table_of("x,k\n1,gro\xdf\n2,b\n", "k"),
                "a.csv: line 2, column 2: a label is not UTF-8: save the table as UTF-8");
  EXPECT_THROWS(DataError,
                table_of("x,gr\xf6\xdf"
                         "e\n1,2\n"),
                "a.csv: line 1, column 2: a name is not UTF-8: save the table as UTF-8");
  for (const auto* wrong : {"\x80", "\xc0\x80", "\xc3", "\xe2\x82", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    SCOPED_TRACE(wrong);
    EXPECT_THROWS(DataError, table_of(std::string("x,k\n1,a\n2,") + wrong + "\n", "k"),
                  "a.csv: line 3, column 2: a label is not UTF-8: save the table as UTF-8");
  }
}

TEST(ReadTable, RefusesATableThatChangesWhileItIsRead) {
  const auto read = [](const std::string& later) {
    int passes = 0;
    const auto open = [&] {
      return std::make_unique<MemoryStream>("a.csv", passes++ == 0 ? "x,y\n1,2\n3,4\n" : std::string_view(later));
    };
    return read_table(open);
  };
  EXPECT_EQ(read("x,y\n1,2\n3,5\n").size(), 2) << "values alone cannot be told from those of the first pass";
  const auto message = "a.csv: changed while it was read: try again when nothing writes to it";
  EXPECT_THROWS(DataError, read("x,y\n1,2\n3,4\n5,6\n"), message);
  EXPECT_THROWS(DataError, read("x,y\n1,2\n"), message);
  EXPECT_THROWS(DataError, read("x,z\n1,2\n3,4\n"), message);
}

TEST(ReadTable, RefusesATableWithoutNamesRowsOrInputs) {
  EXPECT_THROWS(DataError, table_of(""), "a.csv: is empty");
  EXPECT_THROWS(DataError, table_of("1,2\n3,4\n"), "a.csv: line 1 is all numbers: wanted the names of the columns");
  EXPECT_THROWS(DataError, table_of("x,y\n"), "a.csv: holds no rows after the names of the columns");
  EXPECT_THROWS(DataError, table_of("y\na\n", "y"), "a.csv: has no column beside the label");
  EXPECT_THROWS(DataError, table_of("x,y\n1,2\n", "z"), "a.csv: has no column z; its columns: x, y");
  EXPECT_THROWS(DataError, table_of("x,y\n1,a\n1,b\n", "y"),
                "a.csv: no column is left to learn from: x (the same number in every row)");
  EXPECT_THROWS(DataError, table_of("x,y,y\n1,2,3\n", "y"), "a.csv: two columns have the name y");
  EXPECT_THROWS(DataError, table_of("x,y,x\n1,2,3\n", "y"), "a.csv: two columns have the name x");
  EXPECT_THROWS(DataError, table_of(",x,\n1,2,3\n"), "a.csv: two columns have no name");
}

}  // namespace
}  // namespace priornet
