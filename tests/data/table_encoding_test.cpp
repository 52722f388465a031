#include <fmt/format.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/uncertainty/errors.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <cmath>

#include "learning/data/column_types.h"
#include "learning/sets/table_set.h"

namespace priornet {
namespace {

using Names = std::vector<std::string>;

// 40 rows: enough for a column to be known by what nearly all of its values are.
std::string table_of_columns(const std::vector<std::pair<std::string, std::function<std::string(int)>>>& columns) {
  std::string text;
  for (size_t c = 0; c < columns.size(); ++c) text += (c == 0 ? "" : ",") + columns[c].first;
  for (int row = 0; row < 40; ++row) {
    text += "\n";
    for (size_t c = 0; c < columns.size(); ++c) text += (c == 0 ? "" : ",") + columns[c].second(row);
  }
  return text + "\n";
}

TableColumn column_of(const std::string& name, const std::function<std::string(int)>& value,
                      TableOptions options = {}) {
  const auto other = [](int row) { return std::to_string(row * row % 7); };
  return read_table("a.csv", table_of_columns({{name, value}, {"other", other}}), options).encoding->columns.at(0);
}

std::string type_of(const std::string& name, const std::function<std::string(int)>& value) {
  return std::string(kColumnTypeNames[static_cast<size_t>(column_of(name, value).type)]);
}

TEST(TableEncoding, FindsTheTypesOfColumns) {
  EXPECT_EQ(type_of("x", [](int row) { return fmt::format("{}.5", row % 9); }), "number");
  EXPECT_EQ(type_of("x", [](int row) { return row == 3 ? "-" : fmt::format("{}", row % 9); }), "number");
  EXPECT_EQ(type_of("x", [](int row) { return row % 2 == 0 ? "Yes" : "no"; }), "boolean");
  EXPECT_EQ(type_of("x", [](int row) { return row % 3 == 0 ? "red" : "blue"; }), "category");
  EXPECT_EQ(type_of("zip", [](int row) { return fmt::format("0{}", 100 + row % 5); }), "category");
  EXPECT_EQ(type_of("x", [](int row) { return fmt::format("2024-03-{:02}", row % 28 + 1); }), "date");
  EXPECT_EQ(type_of("x", [](int row) { return fmt::format("{}:30", row % 24); }), "date");
  EXPECT_EQ(type_of("x", [](int) { return "7"; }), "dropped");
  EXPECT_EQ(type_of("x", [](int) { return "NA"; }), "dropped");
  EXPECT_EQ(type_of("Unnamed: 0", [](int row) { return std::to_string(row); }), "dropped");
  EXPECT_EQ(type_of("customer_id", [](int row) { return std::to_string(row * 7919 % 1009); }), "dropped");
  EXPECT_EQ(type_of("population", [](int row) { return std::to_string(row * 7919 % 1009); }), "number");
  EXPECT_EQ(type_of("name", [](int row) { return fmt::format("person {}", row); }), "dropped");
}

TEST(TableEncoding, LetsTheUserSayWhatAColumnIs) {
  const auto number = [](int row) { return std::to_string(row % 4); };
  EXPECT_EQ(column_of("x", number, {"", {"x"}, {}, {}}).summary, "as asked");
  EXPECT_EQ(column_of("x", number, {"", {}, {"x"}, {}}).levels, Names({"0", "1", "2", "3"}));
  const auto counting = [](int row) { return std::to_string(row); };
  EXPECT_EQ(column_of("id", counting, {"", {}, {}, {"id"}}).type, ColumnType::kNumber);
  EXPECT_THROWS(DataError, column_of("x", number, {"", {"y"}, {}, {}}),
                "a.csv: has no column y; its columns: x, other");
  EXPECT_THROWS(DataError, column_of("x", number, {"x", {"x"}, {}, {}}),
                "a.csv: x is the label, so it cannot be an input");
}

TEST(TableEncoding, FillsGapsWithTheMedianAndMarksThem) {
  const auto set = read_table("a.csv", "x,c\n1,a\n?,b\n3,\n10,b\nnull,a\n", {});
  const auto x = set.encoding->columns[0];
  EXPECT_EQ(x.fill, 3);
  EXPECT_EQ(x.missing, 2);
  EXPECT_EQ(set.encoding->columns[1].summary, "2 levels, all of them rare");
  EXPECT_EQ(set.feature_names, Names({"x", "x missing", "c=(other)", "c missing"}));
  EXPECT_TRUE(set.inputs.equal(torch::tensor({{1.0f, 0.0f, 1.0f, 0.0f},
                                              {3.0f, 1.0f, 1.0f, 0.0f},
                                              {3.0f, 0.0f, 0.0f, 1.0f},
                                              {10.0f, 0.0f, 1.0f, 0.0f},
                                              {3.0f, 1.0f, 1.0f, 0.0f}})));
}

// Of 3,000 rows, a level needs 20 to get a feature of its own; rarer levels, 1,500 rows in all, share 15 features.
TEST(TableEncoding, GivesFrequentLevelsAFeatureAndHashesTheOthers) {
  const auto column_of_levels = [](const std::function<std::string(int)>& level) {
    std::string text = "c,x\n";
    for (int i = 0; i < 3000; ++i) text += fmt::format("{},{}\n", level(i), i % 11);
    return read_table("a.csv", text, {});
  };
  const auto rare = column_of_levels([](int i) { return i % 2 == 0 ? "often" : fmt::format("c{}", i % 501); });
  EXPECT_EQ(rare.encoding->columns[0].levels, Names{"often"});
  EXPECT_EQ(rare.encoding->columns[0].buckets, 15);
  EXPECT_TRUE(rare.inputs.narrow(1, 0, 16).sum(1).equal(torch::ones({3000}))) << "every row has a level or a bucket";
  EXPECT_GT(rare.inputs.narrow(1, 1, 15).sum(0).min().item<double>(), 0);
  const auto many = column_of_levels([](int i) { return fmt::format("c{}", i % 40); });
  EXPECT_EQ(many.encoding->columns[0].levels.size(), 32U);
  EXPECT_EQ(many.encoding->columns[0].buckets, 1);
}

TEST(TableEncoding, ReadsDatesInTheOrderThatTheDataAllow) {
  const auto day_first = column_of("d", [](int row) { return fmt::format("{}/03/2024", row % 28 + 1); });
  EXPECT_TRUE(day_first.day_first);
  const auto month_first = column_of("d", [](int row) { return fmt::format("03/{}/2024", row % 28 + 1); });
  EXPECT_FALSE(month_first.day_first);
  const auto days = [](const char* text, DateOrder order = DateOrder::kDayFirst) {
    const auto moment = parse_moment(text, order);
    return moment ? moment->days : NAN;
  };
  EXPECT_EQ(days("1970-01-02"), 1);
  EXPECT_EQ(days("03.04.2024"), days("2024-04-03"));
  EXPECT_EQ(days("03/04/2024", DateOrder::kMonthFirst), days("2024-03-04"));
  EXPECT_EQ(days("3-Apr-2024"), days("2024-04-03"));
  EXPECT_EQ(days("2024-04-03T12:00:00Z"), days("2024-04-03") + 0.5);
  EXPECT_EQ(days("2024-04-03 12:00+12:00"), days("2024-04-03"));
  EXPECT_EQ(days("4/3/24 6:00 PM", DateOrder::kMonthFirst), days("2024-04-03") + 0.75);
  EXPECT_EQ(days("18:00"), 0.75);
  for (const auto* wrong : {"2024-02-30", "32.01.2024", "2024-13-01", "25:00", "1.5", "12-34", "2024-01-01x", "10:61"})
    EXPECT_TRUE(std::isnan(days(wrong))) << wrong;
}

// Days of the week become seven features; times become points on a circle, and also a number from early to late.
TEST(TableEncoding, KnowsDaysOfTheWeekAndTimesOfTheDay) {
  const auto set = read_table("a.csv", "when,x\n2024-01-01 00:00,1\n2024-01-08 06:00,2\n1969-12-28 12:00,4\n", {});
  ASSERT_EQ(set.feature_names,
            Names({"when: day", "when: season sin", "when: season cos", "when: Monday", "when: Tuesday",
                   "when: Wednesday", "when: Thursday", "when: Friday", "when: Saturday", "when: Sunday", "when: time",
                   "when: time sin", "when: time cos", "x"}));
  const auto weekday = torch::zeros({3, 7});
  weekday[0][0] = 1;
  weekday[1][0] = 1;
  weekday[2][6] = 1;
  EXPECT_TRUE(set.inputs.narrow(1, 3, 7).equal(weekday)) << set.inputs;
  const auto time = torch::tensor({{0.0F, 0.0F, 1.0F}, {0.25F, 1.0F, 0.0F}, {0.5F, 0.0F, -1.0F}});
  EXPECT_TRUE(torch::allclose(set.inputs.narrow(1, 10, 3), time, 0, 1e-6)) << set.inputs;
}

const char* const kMixed =
    "age,colour,member,born\n31,red,yes,2001-05-06\n,blue,no,2002-07-08\n33,red,yes,\n40,blue,yes,2003-01-01\n"
    "35,red,no,2003-01-02\n36,blue,no,2003-01-03\n";

TEST(TableEncoding, IsTheSameAfterJson) {
  const auto set = read_table("a.csv", kMixed, {});
  const auto read = table_encoding_from_json(to_json(*set.encoding), "here");
  EXPECT_EQ(to_json(read), to_json(*set.encoding));
  TableOptions options;
  options.encoding = &read;
  EXPECT_TRUE(read_table("b.csv", kMixed, options).inputs.equal(set.inputs));
  EXPECT_THROWS(DataError, table_encoding_from_json("{}", "here"),
                "here: its description of the table's columns is damaged");
}

// What people are shown: one value per column of theirs.
TEST(TableEncoding, GivesTheValuesOfARowBack) {
  const auto set = read_table("a.csv", kMixed, {});
  const auto row = [&](int64_t at) {
    Names values;
    const auto* features = set.inputs[at].data_ptr<float>();
    for (const auto& column : set.encoding->columns) {
      values.push_back(decoded_value(column, features));
      features += column.features();
    }
    return values;
  };
  EXPECT_EQ(row(0), Names({"31", "red", "yes", "2001-05-06"}));
  EXPECT_EQ(row(1), Names({"missing", "blue", "no", "2002-07-08"}));
  EXPECT_EQ(row(2), Names({"33", "red", "yes", "missing"}));
  EXPECT_EQ(typical_value(set.encoding->columns[0]), "35");
  EXPECT_EQ(typical_value(set.encoding->columns[3]), "2003-01-01");
}

// float32 knows the days of 2024 to three minutes only.
TEST(TableEncoding, GivesMomentsBackToTheMinute) {
  const auto set = read_table("a.csv", "when,at,x\n2024-01-01 23:59,7:05,1\n2024-01-08 06:01,12:00,2\n", {});
  const auto& columns = set.encoding->columns;
  for (const auto& [row, when, at] :
       {std::tuple{0, "2024-01-01 23:59", "07:05"}, std::tuple{1, "2024-01-08 06:01", "12:00"}}) {
    const auto* features = set.inputs[row].data_ptr<float>();
    EXPECT_EQ(decoded_value(columns[0], features), when);
    EXPECT_EQ(decoded_value(columns[1], features + columns[0].features()), at);
  }
  EXPECT_EQ(to_text(Moment{-1, true, false}), "1969-12-31");
  EXPECT_EQ(to_text(Moment{1e300, true, true}), "1e+300 days");
}

TEST(TableEncoding, CallsAColumnWithoutANameByItsPlace) {
  const auto set = read_table("a.csv", "age,\n31,red\n33,blue\n35,red\n", {});
  EXPECT_EQ(set.encoding->column_names(), Names({"age", ""}));
  EXPECT_EQ(set.encoding->shown_name(1), "(column 2)");
  EXPECT_EQ(set.feature_names, Names({"age", "(column 2)=(other)"}));
}

TEST(TableEncoding, TakesColumnsInAnyOrderAndSaysWhatIsNew) {
  const auto set = read_table("a.csv", kMixed, {});
  Names notes;
  TableOptions options;
  options.encoding = set.encoding.get();
  options.notes = &notes;
  const auto other = read_table("b.csv", "more,colour,age,born\n1,red,31,2001-05-06\n2,mauve,old,\n", options);
  EXPECT_EQ(other.feature_names, set.feature_names);
  EXPECT_TRUE(other.inputs[0].narrow(0, 0, 4).equal(set.inputs[0].narrow(0, 0, 4)));
  EXPECT_EQ(notes, Names({"b.csv: lacks columns of the model, which count as missing: member",
                          "b.csv: age: \"old\" is not a number and counts as missing (1 row)",
                          "b.csv: colour: \"mauve\" was not seen in training (1 row)"}));
  EXPECT_THROWS(DataError, read_table("b.csv", "x,y\n1,2\n", options),
                "b.csv: has none of the columns age, colour, member, born; its columns: x, y");
}

// A number that float32 does not hold is strange. As the median of its column it would look like any other.
TEST(TableEncoding, DoesNotTakeHugeNumbersForMissingOnes) {
  const auto set = read_table("a.csv", kMixed, {});
  Names notes;
  TableOptions options;
  options.encoding = set.encoding.get();
  options.notes = &notes;
  const auto ages = read_table("b.csv", "age\n1e39\n-1e300\ninf\n-Infinity\n1e20\n", options).inputs.select(1, 0);
  EXPECT_TRUE(ages.equal(torch::tensor({1e30, -1e30, 1e30, -1e30, 1e20}, torch::kFloat32)));
  EXPECT_EQ(notes.size(), 1u);  // about the other columns
}

}  // namespace
}  // namespace priornet
