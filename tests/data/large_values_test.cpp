#include <priornet/learning/dataset.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "learning/data/byte_stream.h"

// Values that memory has no room for lie in files.

namespace priornet {
namespace {

class LargeValues : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("PRIORNET_MEMORY", "4MB", 1);
    ::setenv("TMPDIR", folder_name_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("PRIORNET_MEMORY");
    ::unsetenv("TMPDIR");
  }

  /// Whether some memory of this process is that of a file in the folder.
  bool lies_in_a_file() const {
    std::ifstream maps("/proc/self/maps");
    std::stringstream text;
    text << maps.rdbuf();
    return text.str().find((folder_ / "priornet-").string()) != std::string::npos;
  }

  TemporaryFolder folder_;
  const std::string folder_name_ = (folder_ / "priornet").parent_path().string();
};

constexpr int64_t kMegabyte = int64_t{1} << 20;

TEST_F(LargeValues, LieInAFileWhereTheRoomIsTaken) {
  auto first = memory_for("first", {3, kMegabyte}, torch::kUInt8);
  EXPECT_FALSE(lies_in_a_file());
  {
    auto second = memory_for("second", {2, kMegabyte}, torch::kUInt8);
    EXPECT_TRUE(lies_in_a_file());
    second.fill_(7);
    EXPECT_EQ(second.sum().item<int64_t>(), 2 * kMegabyte * 7);
    EXPECT_TRUE(std::filesystem::is_empty(folder_name_));  // the file has no name, so nobody has to remove it
  }
  EXPECT_FALSE(lies_in_a_file());
  first.reset();
  const auto third = memory_for("third", {2, kMegabyte}, torch::kUInt8);
  EXPECT_FALSE(lies_in_a_file()) << "the room of the first is free again";
}

TEST_F(LargeValues, RowsOfASetAndSetsTogetherDoSoToo) {
  Dataset set{"set", torch::randint(256, {10, 1, 1024, 512}, torch::kUInt8), torch::arange(10), {}, {}};
  for (int i = 0; i < 10; ++i) set.class_names.push_back(std::to_string(i));
  const auto rows = torch::tensor({9, 0, 3, 3, 5, 1, 2, 8, 4}, torch::kInt64);
  const auto chosen = select(set, rows);
  EXPECT_TRUE(lies_in_a_file());
  EXPECT_TRUE(chosen.inputs.equal(set.inputs.index_select(0, rows)));
  EXPECT_TRUE(chosen.labels.equal(rows));
  const auto whole = concatenate({set, chosen});
  EXPECT_TRUE(whole.inputs.equal(torch::cat({set.inputs, chosen.inputs})));
}

TEST_F(LargeValues, MayBeLookedAtWhereTheyLie) {
  Dataset set{"set", torch::randint(256, {10, 1, 1024, 512}, torch::kUInt8), torch::arange(10), {}, {}};
  for (int i = 0; i < 10; ++i) set.class_names.push_back(std::to_string(i));
  const auto rows = torch::tensor({9, 0, 3, 3, 5, 1, 2, 8, 4}, torch::kInt64);
  const auto view = view_of(set, rows);
  const auto copy = select(set, rows);
  EXPECT_EQ(view.inputs.data_ptr(), set.inputs.data_ptr());
  EXPECT_EQ(view.size(), 9);
  EXPECT_TRUE(view.labels.equal(copy.labels));
  EXPECT_TRUE(inputs_at(view, 2, 4).equal(inputs_at(copy, 2, 4)));
  const auto some = torch::tensor({8, 0, 2, 2, 7, 6, 5, 4, 1}, torch::kInt64);
  EXPECT_TRUE(select(view, some).inputs.equal(select(copy, some).inputs));
  EXPECT_TRUE(inputs_at(view_of(view, some), 0, 9).equal(select(copy, some).inputs));
  EXPECT_TRUE(inputs_at(slice(view, 3, 5), 0, 5).equal(slice(copy, 3, 5).inputs));
  EXPECT_TRUE(concatenate({view, view}).inputs.equal(concatenate({copy, copy}).inputs));
  EXPECT_FALSE(view_of(set, rows.narrow(0, 0, 2)).rows.defined()) << "memory has room for few rows";
}

TEST_F(LargeValues, AreRefusedWhereThereIsNoFolderForThem) {
  ::setenv("TMPDIR", (folder_ / "gone").c_str(), 1);
  const auto wanted = "photos: [9, 1048576] does not fit in memory, and " + (folder_ / "gone").string() +
                      " has no room for 9437184 bytes: name another folder with TMPDIR";
  EXPECT_THROWS(DataError, memory_for("photos", {9, kMegabyte}, torch::kUInt8), wanted.c_str());
}

TEST_F(LargeValues, KnowTheirRoom) {
  for (const auto& [text, bytes] : {std::pair{"500", int64_t{500}}, {"3KB", 3 << 10}, {"2GB", int64_t{2} << 30}}) {
    ::setenv("PRIORNET_MEMORY", text, 1);
    EXPECT_EQ(room_for_values(), bytes);
  }
  for (const auto* text : {"much", "4 GB", "-1GB", "4TB", "99999999999999999999GB"}) {
    ::setenv("PRIORNET_MEMORY", text, 1);
    const auto wanted = std::string("PRIORNET_MEMORY should be a size such as 500MB or 4GB, found \"") + text + "\"";
    EXPECT_THROWS(ArgumentError, room_for_values(), wanted.c_str());
  }
  ::unsetenv("PRIORNET_MEMORY");
  EXPECT_GT(room_for_values(), 64 * kMegabyte);
}

}  // namespace
}  // namespace priornet
