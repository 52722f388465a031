#include "learning/data/csv.h"
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <limits>

namespace priornet {
namespace {

using Names = std::vector<std::string>;

NumberTable read(const std::string& text) {
  const TemporaryFolder folder;
  return read_csv(folder.file("a.csv", text));
}

std::string error_of(const std::string& text) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.csv", text);
  try {
    read_csv(path);
    return "no error";
  } catch (const DataError& error) {
    const std::string message = error.what();
    return message.starts_with(path.string()) ? message.substr(path.string().size()) : "does not name the file";
  }
}

const torch::Tensor kValues = torch::tensor({1.0, 2.5, -3.0, 4e-3}, torch::kFloat64).reshape({2, 2});

TEST(ReadCsv, ReadsNumbersWithAndWithoutAHeader) {
  const auto plain = read("1,2.5\n-3,4e-3\n");
  EXPECT_TRUE(plain.names.empty());
  EXPECT_TRUE(plain.values.equal(kValues));
  const auto named = read("max_prob,entropy\n1,2.5\n-3,4e-3");
  EXPECT_EQ(named.names, Names({"max_prob", "entropy"}));
  EXPECT_TRUE(named.values.equal(kValues));
}

TEST(ReadCsv, TakesWhatSpreadsheetsWrite) {
  EXPECT_TRUE(read("\xEF\xBB\xBF"
                   "1,2.5\r\n-3,4e-3\r\n\r\n")
                  .values.equal(kValues));
  const auto quoted = read("\xEF\xBB\xBF\"a, b\",\"say \"\"c\"\"\"\r\n\"1\", 2.5 \r\n -3,\t+4e-3\n\n\n");
  EXPECT_EQ(quoted.names, Names({"a, b", "say \"c\""}));
  EXPECT_TRUE(quoted.values.equal(kValues));
  EXPECT_EQ(read(",a\n0,1\n").names, Names({"", "a"}));
}

TEST(ReadCsv, TakesAHeaderWithoutRows) {
  const auto table = read("a,b\n");
  EXPECT_EQ(table.names, Names({"a", "b"}));
  EXPECT_EQ(table.values.sizes().vec(), std::vector<int64_t>({0, 2}));
}

TEST(ReadCsv, TakesTheWholeRangeOfDoubles) {
  const auto values = read("1.7976931348623157e308,5e-324,1e-400,inf,-Infinity\n").values;
  const auto* row = values.data_ptr<double>();
  EXPECT_EQ(row[0], std::numeric_limits<double>::max());
  EXPECT_EQ(row[1], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(row[2], 0.0);
  EXPECT_EQ(row[3], std::numeric_limits<double>::infinity());
  EXPECT_EQ(row[4], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(read("nan\n").values.item<double>()));
}

TEST(ReadCsv, NamesTheRaggedLine) {
  EXPECT_EQ(error_of("a,b,c,d\n1,2,3,4\n1,2,3\n"), ": line 3 has 3 values, line 1 has 4");
  EXPECT_EQ(error_of("1,2\n1,2,3\n"), ": line 2 has 3 values, line 1 has 2");
  EXPECT_EQ(error_of("1,2\n1,2,\n"), ": line 2 has 3 values, line 1 has 2");
  EXPECT_EQ(error_of("1,2\n1\n"), ": line 2 has 1 value, line 1 has 2");
  EXPECT_EQ(error_of("1,2\n\n3,4\n"), ": line 2 is blank");
}

TEST(ReadCsv, NamesTheLineAndColumnOfWhatIsNotANumber) {
  EXPECT_EQ(error_of("a,b\n1,2\n3,four\n"), ": line 3, column 2: \"four\" is not a number");
  EXPECT_EQ(error_of("1,2\n1.5x,2\n"), ": line 2, column 1: \"1.5x\" is not a number");
  EXPECT_EQ(error_of("1,2\n,2\n"), ": line 2, column 1: an empty value is not a number");
  EXPECT_EQ(error_of("1,2\n+-1,2\n"), ": line 2, column 1: \"+-1\" is not a number");
  EXPECT_EQ(error_of("1,2\n1,1e999\n"), ": line 2, column 2: \"1e999\" is too large for a float64");
  EXPECT_EQ(error_of(fmt::format("1\n{:x>50}", "")),
            fmt::format(": line 2, column 1: \"{:x>40}...\" is not a number", ""));
}

TEST(ReadCsv, HasNaNForWhatIsNoNumberBesideTheOnlyColumn) {
  const TemporaryFolder folder;
  const auto values = read_csv(folder.file("a.csv", "a,b,c,d\n1.5x,2,1e999,4\n"), "b").values;
  EXPECT_TRUE(values.isnan().equal(torch::tensor({{true, false, true, false}})));
}

TEST(ReadCsv, RefusesAnEmptyFile) {
  for (const auto* text : {"", "\n", " \r\n\n", "\xEF\xBB\xBF"}) EXPECT_EQ(error_of(text), ": is empty");
}

}  // namespace
}  // namespace priornet
