#include <priornet/uncertainty/errors.h>
#include <testing/fixtures.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/data/npy.h"

namespace priornet {
namespace {

using Names = std::vector<std::string>;

TEST(ReadNpz, KeepsTheOrderOfWhatNumPyWrote) {
  const auto arrays = read_npz(fixture("plain.npz"));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "second");
  EXPECT_TRUE(arrays[0].values.equal(torch::arange(6, torch::kFloat64).reshape({2, 3}) / 4));
  EXPECT_EQ(arrays[1].name, "first");
  EXPECT_TRUE(arrays[1].values.equal(torch::tensor({1, 2}, torch::kInt64)));
}

TEST(ReadNpz, ReadsOneArrayWhateverTheOthersHold) {
  const auto path = fixture("compressed.npz");
  EXPECT_EQ(npz_names(path), Names({"logits", "names"}));
  EXPECT_TRUE(read_npz(path, "logits").equal(torch::zeros({50, 10}, torch::kFloat64)));
  EXPECT_THROWS(
      DataError, read_npz(path),
      (path.string() + ": names.npy: dtype '<U1' is not supported: wanted numbers in little-endian order: float16, "
                       "float32, float64, integers of any size or bool")
          .c_str());
}

TEST(ReadNpz, ListsTheArraysWhenOneIsMissing) {
  const auto path = fixture("plain.npz");
  EXPECT_THROWS(DataError, read_npz(path, "third"),
                (path.string() + ": has no array third; its arrays: second, first").c_str());
}

TEST(ReadNpz, RefusesWhatIsNotAnArchive) {
  const TemporaryFolder folder;
  const auto empty = folder.file("empty.npz", "");
  EXPECT_THROWS(DataError, read_npz(empty), (empty.string() + ": is empty").c_str());
  const auto text = folder.file("text.npz", "not a zip archive, whatever it is called");
  EXPECT_THROWS(DataError, read_npz(text),
                (text.string() + ": cannot be read as an archive: Unrecognized archive format").c_str());
  EXPECT_THROWS(DataError, read_npz("no/such.npz"), "no/such.npz: cannot be read: No such file or directory");
}

TEST(ReadNpz, RefusesAnArchiveCutShort) {
  const TemporaryFolder folder;
  const auto whole = bytes_of(fixture("plain.npz"));
  for (size_t length = 1; length < whole.size(); ++length) {
    const auto path = folder.file("cut.npz", std::string_view(whole).substr(0, length));
    EXPECT_THROW(read_npz(path, "first"), DataError) << length << " of " << whole.size() << " bytes";
  }
}

TEST(WriteNpz, ReadsBackTheSame) {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> arrays = {{"prediction", torch::tensor({2, 0, 1}, torch::kInt64)},
                                           {"entropy", torch::tensor({0.25, 1.0, 3.0}, torch::kFloat64)},
                                           {"weights", torch::rand({3, 4, 5})},
                                           {"none", torch::zeros({0, 3})}};
  write_npz(folder / "a.npz", arrays);
  const auto back = read_npz(folder / "a.npz");
  ASSERT_EQ(back.size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ(back[i].name, arrays[i].name);
    EXPECT_EQ(back[i].values.scalar_type(), arrays[i].values.scalar_type());
    EXPECT_TRUE(back[i].values.equal(arrays[i].values)) << arrays[i].name;
  }
  EXPECT_EQ(folder.names(), Names{"a.npz"});
}

TEST(WriteNpz, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_npz(folder / "a.npz", {{"a", torch::zeros(3)}, {"b", torch::zeros(3, torch::kBool)}}),
               ArgumentError);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace priornet
