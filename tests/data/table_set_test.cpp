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
  MemoryStream stream("a.csv", text);
  return read_table(stream, {label});
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
  const auto set = read_table(path, {"kind, of"});
  EXPECT_TRUE(set.inputs.equal(torch::arange(1, 7, torch::kFloat32).view({3, 2})));
  EXPECT_EQ(set.feature_names, Names({"x", "y"}));
  EXPECT_EQ(set.class_names, Names({"a \"b\"", "virginica"}));
  EXPECT_TRUE(set.labels.equal(torch::tensor({1, 0, 1}, torch::kInt64)));
  EXPECT_NO_THROW(check_dataset(set));
}

TEST(ReadTable, SortsNumbersAsNumbersAndTextAsText) {
  const auto numbers = table_of("x,k\n0,10\n0,9\n0,9.0\n0,-1.5\n", "k");
  EXPECT_EQ(numbers.class_names, Names({"-1.5", "9", "10"}));
  EXPECT_TRUE(numbers.labels.equal(torch::tensor({2, 1, 1, 0}, torch::kInt64)));
  EXPECT_EQ(table_of("x,k\n0,10\n0,9\n0,nan\n", "k").class_names, Names({"10", "9", "nan"}));
}

TEST(ReadTable, NamesLineAndColumnOfWhatIsWrong) {
  EXPECT_THROWS(DataError, table_of("x,y\n1,2\n3,four\n"),
                "a.csv: line 3, column 2: \"four\" is not a number; a column of classes is named by ,label=COLUMN");
  EXPECT_THROWS(DataError, table_of("x,y\n1,nan\n"), "a.csv: line 2, column 2: \"nan\" is not finite");
  EXPECT_THROWS(DataError, table_of("x,y\n1,1e39\n"), "a.csv: line 2, column 2: \"1e39\" is too large for a float32");
  EXPECT_THROWS(DataError, table_of("x,y\n1,1e999\n"), "a.csv: line 2, column 2: \"1e999\" is too large for a float32");
  EXPECT_THROWS(DataError, table_of("x,y\n1,\n", "y"), "a.csv: line 2, column 2: an empty value is no label");
  EXPECT_THROWS(DataError, table_of("x,y\n1,2,3\n"), "a.csv: line 2 has 3 values, line 1 has 2");
  EXPECT_THROWS(DataError, table_of("x,y\n1,a,b\n"), "a.csv: line 2 has 3 values, line 1 has 2");
  EXPECT_THROWS(DataError, table_of("x,y\n1\n", "y"), "a.csv: line 2 has 1 value, line 1 has 2");
  EXPECT_THROWS(DataError, table_of("x,y\n\n1,2\n"), "a.csv: line 2 is blank");
  EXPECT_THROWS(DataError, table_of("\n1,2\n"), "a.csv: line 1 is blank");
}

// Spreadsheets write Latin-1 and UTF-16, and semicolons where a comma is part of a number.
TEST(ReadTable, TakesTextInUtf8Alone) {
  EXPECT_EQ(table_of("x,k\n1,gro\u00df\n2,\u20ac \U0001f600\n", "k").class_names,
            Names({"gro\u00df", "\u20ac \U0001f600"}));
  EXPECT_THROWS(DataError, table_of("x,k\n1,gro\xdf\n", "k"),
                "a.csv: line 2, column 2: a label is not UTF-8: the table should be saved as that");
  EXPECT_THROWS(DataError,
                table_of("x,gr\xf6\xdf"
                         "e\n1,2\n"),
                "a.csv: line 1, column 2: a name is not UTF-8: the table should be saved as that");
  for (const auto* wrong : {"\x80", "\xc0\x80", "\xc3", "\xe2\x82", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                            "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
    EXPECT_THROW(table_of(std::string("x,k\n1,") + wrong + "\n", "k"), DataError) << wrong;
}

TEST(ReadTable, SaysThatValuesAreNotSeparatedByCommas) {
  EXPECT_THROWS(DataError, table_of("x;k\n1,5;a\n", "k"),
                "a.csv: should have commas between its values, line 1 has semicolons");
  EXPECT_THROWS(DataError, table_of("x\tk\n1\ta\n", "k"),
                "a.csv: should have commas between its values, line 1 has tabs");
}

TEST(ReadTable, RefusesATableWithoutNamesRowsOrInputs) {
  EXPECT_THROWS(DataError, table_of(""), "a.csv: is empty");
  EXPECT_THROWS(DataError, table_of("1,2\n3,4\n"), "a.csv: line 1 is all numbers: wanted the names of the columns");
  EXPECT_THROWS(DataError, table_of("x,y\n"), "a.csv: holds no rows after the names of the columns");
  EXPECT_THROWS(DataError, table_of("y\na\n", "y"), "a.csv: has no column beside the label");
  EXPECT_THROWS(DataError, table_of("x,y\n1,2\n", "z"), "a.csv: has no column z; its columns: x, y");
  EXPECT_THROWS(DataError, table_of("x,y,y\n1,2,3\n", "y"), "a.csv: two columns are called y");
  EXPECT_THROWS(DataError, table_of("x,y,x\n1,2,3\n", "y"), "a.csv: two columns are called x");
  EXPECT_THROWS(DataError, table_of(",x,\n1,2,3\n"), "a.csv: two columns have no name");
}

}  // namespace
}  // namespace priornet
