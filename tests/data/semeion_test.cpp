#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include "learning/sets/families.h"

namespace priornet {
namespace {

// A digit in which only pixel number `on` is black.
std::string line(int digit, int on, const std::string& zero = "0.0000 ", const std::string& one = "1.0000 ") {
  std::string text;
  for (int i = 0; i < 256; ++i) text += i == on ? one : zero;
  for (int i = 0; i < 10; ++i) text += i == digit ? "1 " : "0 ";
  return text;
}

Dataset read(const std::string& text) {
  MemoryStream stream("a", text);
  return read_semeion(stream);
}

TEST(ReadSemeion, ReadsADigitALine) {
  const TemporaryFolder folder;
  folder.file("semeion.data", line(3, 17) + "\r\n" + line(0, 255) + "\r\n");
  for (const auto& path : {folder / "", folder / "semeion.data"}) {
    const auto set = read_semeion(path);
    EXPECT_TRUE(set.labels.equal(torch::tensor({3, 0}, torch::kInt64)));
    EXPECT_EQ(set.inputs.sizes().vec(), std::vector<int64_t>({2, 1, 16, 16}));
    EXPECT_EQ(set.inputs[0][0][1][1].item<int>(), 255);
    EXPECT_EQ(set.inputs[1][0][15][15].item<int>(), 255);
    EXPECT_EQ(set.inputs.to(torch::kInt64).sum().item<int64_t>(), 2 * 255);
    EXPECT_NO_THROW(check_dataset(set));
  }
}

TEST(ReadSemeion, TakesNumbersWithoutDecimals) {
  const auto set = read(line(9, 0, "0 ", "1 ") + "\n" + line(9, 0, "0.\t", "1. "));
  EXPECT_EQ(set.size(), 2);
  EXPECT_TRUE(set.inputs[0].equal(set.inputs[1]));
}

TEST(ReadSemeion, NamesTheLineThatIsWrong) {
  const auto good = line(1, 1) + "\n";
  EXPECT_THROWS(DataError, read(""), "a: is empty");
  EXPECT_THROWS(DataError, read(good + "0 1 0\n" + good), "a: line 2 has 3 values: wanted 266");
  EXPECT_THROWS(DataError, read(good + "\n" + good), "a: line 2 has 0 values: wanted 266");
  EXPECT_THROWS(DataError, read(good + line(1, 1) + "0\n"), "a: line 2 has more than 266 values");
  EXPECT_THROWS(DataError, read(good + good + line(1, 4, "0 ", "0.5 ")),
                "a: line 3 has \"0.5\" as value 5 (from 1): wanted 0 or 1");
  EXPECT_THROWS(DataError, read(line(1, 4, "0 ", "2 ")), "a: line 1 has \"2\" as value 5 (from 1): wanted 0 or 1");
  EXPECT_THROWS(DataError, read(line(-1, 4)), "a: line 1 has no digit: all of its last 10 values are 0");
  auto both = line(2, 4);
  both[both.size() - 2] = '1';
  EXPECT_THROWS(DataError, read(both), "a: line 1 is both a 2 and a 9");
  EXPECT_THROWS(DataError, read(std::string(1000, '\n') + "x"), "a: line 1 has 0 values: wanted 266");
}

}  // namespace
}  // namespace priornet
