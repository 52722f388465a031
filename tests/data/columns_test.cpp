#include <priornet/learning/columns.h>
#include <priornet/uncertainty/errors.h>
#include <testing/fixtures.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/data/npy.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<NamedTensor> kColumns = {{"prediction", torch::tensor({2, 0, -1}, torch::kInt64)},
                                           {"single", torch::tensor({0.1f, 1e20f, -3.0f})},
                                           {"double", torch::tensor({0.1, 1.0 / 3.0, 5e-324}, torch::kFloat64)}};

TEST(ReadColumns, NamesTheColumnsOfACsv) {
  const TemporaryFolder folder;
  const auto named = read_columns(folder.file("a.csv", "entropy,max_prob\n1,2\n3,4\n"));
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[1].name, "max_prob");
  EXPECT_TRUE(named[1].values.equal(torch::tensor({2.0, 4.0}, torch::kFloat64)));
  const auto plain = read_columns(folder.file("b.csv", "1,2\n3,4\n"));
  EXPECT_EQ(plain[0].name, "0");
  EXPECT_EQ(plain[1].name, "1");
  EXPECT_EQ(read_columns(folder.file("c.csv", "1\n3\n"))[0].name, "");
}

TEST(ReadColumns, ReadsALoneArrayWithoutAName) {
  const auto columns = read_columns(fixture("int64.npy"));
  ASSERT_EQ(columns.size(), 1u);
  EXPECT_EQ(columns[0].name, "");
  EXPECT_TRUE(columns[0].values.equal(torch::tensor({3, -1, 2}, torch::kInt64)));
}

TEST(ReadColumns, ReadsOneColumnOfACsvWhateverTheOthersHold) {
  const TemporaryFolder folder;
  const auto csv = folder.file("a.csv", "file,entropy,note\na.png,0.5,1e999\n\"b, c.png\",0.25,\n");
  const auto columns = read_columns(csv, "entropy");
  ASSERT_EQ(columns.size(), 1u);
  EXPECT_TRUE(columns[0].values.equal(torch::tensor({0.5, 0.25}, torch::kFloat64)));
  EXPECT_THROWS(DataError, read_columns(csv, "file"),
                (csv.string() + ": line 2, column 1: \"a.png\" is not a number").c_str());
  EXPECT_THROWS(DataError, read_columns(csv, "epkl"),
                (csv.string() + ": has no column epkl; its columns: file, entropy, note").c_str());
  const auto ragged = folder.file("b.csv", "file,entropy\na.png,0.5\nb.png\n");
  EXPECT_THROWS(DataError, read_columns(ragged, "entropy"),
                (ragged.string() + ": line 3 has 1 value, line 1 has 2").c_str());
}

TEST(ReadColumns, ListsTheColumnsWhenOneIsMissing) {
  const TemporaryFolder folder;
  const auto csv = folder.file("a.csv", "entropy,max_prob\n1,2\n");
  EXPECT_EQ(read_columns(csv, "max_prob").size(), 1u);
  EXPECT_THROWS(DataError, read_columns(csv, "epkl"),
                (csv.string() + ": has no column epkl; its columns: entropy, max_prob").c_str());
  const auto npy = fixture("int64.npy");
  EXPECT_THROWS(DataError, read_columns(npy, "epkl"),
                (npy.string() + ": has no column epkl; its only column has no name").c_str());
}

TEST(ReadColumns, RefusesWhatAreNoColumns) {
  const TemporaryFolder folder;
  const auto twice = folder.file("a.csv", "a,b,a\n1,2,3\n");
  EXPECT_THROWS(DataError, read_columns(twice), (twice.string() + ": two columns have the name \"a\"").c_str());
  const auto matrix = fixture("float64.npy");
  EXPECT_THROWS(DataError, read_columns(matrix),
                (matrix.string() + ": a column should have one dimension, found shape [2, 3]").c_str());
  EXPECT_THROWS(DataError, read_columns("a.json"),
                "a.json: extension .json is not supported: wanted .csv, .npz or .npy");
}

TEST(WriteColumns, WritesTheShortestNumbersThatReadBackTheSame) {
  const TemporaryFolder folder;
  write_columns(folder / "a.csv", kColumns);
  EXPECT_EQ(bytes_of(folder / "a.csv"),
            "prediction,single,double\n2,0.1,0.1\n0,1e+20,0.3333333333333333\n-1,-3,5e-324\n");
  const auto back = read_columns(folder / "a.csv");
  for (size_t i = 0; i < kColumns.size(); ++i)
    EXPECT_TRUE(back[i].values.to(kColumns[i].values.scalar_type()).equal(kColumns[i].values)) << kColumns[i].name;
}

TEST(WriteColumns, QuotesNamesThatNeedIt) {
  const TemporaryFolder folder;
  write_columns(folder / "a.csv", {{"a, \"b\"", torch::tensor({1.0})}});
  EXPECT_EQ(bytes_of(folder / "a.csv"), "\"a, \"\"b\"\"\"\n1\n");
  EXPECT_EQ(read_columns(folder / "a.csv")[0].name, "a, \"b\"");
}

TEST(WriteColumns, WritesJsonByColumn) {
  const TemporaryFolder folder;
  write_columns(folder / "a.json", kColumns);
  const auto json = nlohmann::json::parse(bytes_of(folder / "a.json"));
  EXPECT_EQ(json.size(), 3u);
  EXPECT_EQ(json["prediction"], nlohmann::json({2, 0, -1}));
  EXPECT_EQ(json["double"], nlohmann::json({0.1, 1.0 / 3.0, 5e-324}));
  write_columns(folder / "b.json", {{"x", torch::tensor({1.0, kInfinity, -kInfinity, std::nan("")})}});
  EXPECT_EQ(nlohmann::json::parse(bytes_of(folder / "b.json"))["x"], nlohmann::json({1.0, nullptr, nullptr, nullptr}));
}

// Names come from a user's table, which may be in any encoding.
TEST(WriteColumns, WritesNamesThatAreNotUtf8) {
  const std::vector<NamedTensor> columns = {
      {"gr\xF6\xDF"
       "e",
       torch::tensor({1.0})}};
  std::string json, csv;
  write_columns_json([&](std::string_view piece) { json += piece; }, columns);
  write_columns_csv([&](std::string_view piece) { csv += piece; }, columns);
  EXPECT_EQ(nlohmann::json::parse(json).begin().key(), "gr\uFFFD\uFFFDe");
  EXPECT_EQ(csv, "gr\\xf6\\xdfe\n1\n");
}

// Longer than one piece of text, so that the seams between pieces are read back too.
TEST(WriteColumns, WritesManyRows) {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> columns = {{"a", torch::rand(200000, torch::kFloat64)}, {"b", torch::rand(200000)}};
  write_columns(folder / "a.csv", columns);
  const auto back = read_columns(folder / "a.csv");
  EXPECT_TRUE(back[0].values.equal(columns[0].values));
  EXPECT_TRUE(back[1].values.to(torch::kFloat32).equal(columns[1].values));
  write_columns(folder / "a.json", columns);
  const auto json = nlohmann::json::parse(bytes_of(folder / "a.json"));
  EXPECT_EQ(json["a"].size(), 200000u);
  EXPECT_EQ(json["b"].back().get<float>(), columns[1].values[-1].item<float>());
}

TEST(WriteColumns, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  EXPECT_THROWS(
      DataError, write_columns(folder / "a.txt", kColumns),
      ((folder / "a.txt").string() + ": extension .txt is not supported: wanted .csv, .json or .npz").c_str());
  EXPECT_THROWS(ArgumentError, write_columns(folder / "a.csv", {{"a", torch::ones(2)}, {"b", torch::ones(3)}}),
                "write_columns: b should be one-dimensional and as long as a");
  EXPECT_THROWS(ArgumentError, write_columns(folder / "a.csv", {{"a", torch::ones(2, torch::kBool)}}),
                "write_columns: a should be float32, float64, int32 or int64, found Bool");
  EXPECT_TRUE(folder.names().empty());
}

#ifdef PRIORNET_HAVE_LIBARCHIVE
TEST(WriteColumns, KeepsTheDtypesInAnNpz) {
  const TemporaryFolder folder;
  write_columns(folder / "a.npz", kColumns);
  const auto back = read_columns(folder / "a.npz");
  ASSERT_EQ(back.size(), kColumns.size());
  for (size_t i = 0; i < kColumns.size(); ++i) {
    EXPECT_EQ(back[i].name, kColumns[i].name);
    EXPECT_EQ(back[i].values.scalar_type(), kColumns[i].values.scalar_type());
    EXPECT_TRUE(back[i].values.equal(kColumns[i].values));
  }
}

TEST(ReadColumns, ReadsOneArrayOfAnNpzWhateverTheOthersHold) {
  const auto plain = fixture("plain.npz");
  EXPECT_TRUE(read_columns(plain, "first")[0].values.equal(torch::tensor({1, 2}, torch::kInt64)));
  EXPECT_THROWS(DataError, read_columns(plain),
                (plain.string() + ": array second: a column should have one dimension, found shape [2, 3]").c_str());
}
#endif

}  // namespace
}  // namespace priornet
