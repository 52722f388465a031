#include <fmt/format.h>
#include <gtest/gtest.h>
#include <priornet/learning/tensor_file.h>
#include <sys/stat.h>
#include <testing/temporary_folder.h>

#include <set>

#include "learning/base/file_io.h"
#include "learning/sets/prepared_copy.h"

namespace priornet {
namespace {

Dataset small_set() {
  return {"small",
          torch::arange(2 * 3 * 5 * 7).to(torch::kUInt8).reshape({2, 3, 5, 7}),
          torch::tensor({1, 0}, torch::kInt64),
          {"cat", "d\"\xC3\xB6g"},
          {}};
}

TEST(PreparedCopy, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const auto file = folder / "prepared" / "small.pn";
  ASSERT_TRUE(write_prepared_copy(file, small_set(), "source 1"));
  const auto copy = map_prepared_copy(file, "source 1");
  ASSERT_TRUE(copy);
  EXPECT_TRUE(copy->inputs.equal(small_set().inputs));
  EXPECT_TRUE(copy->labels.equal(small_set().labels));
  EXPECT_EQ(copy->class_names, small_set().class_names);
}

TEST(PreparedCopy, KeepsWhatBecameOfFiles) {
  const TemporaryFolder folder;
  SetFiles files{{{"cat/1\nx.png", 7}, {"dog/2.png", ~uint64_t{0}}}, {}};
  for (int i = 0; i < 40'000; ++i) files.left_out.push_back({fmt::format("cat/{}.txt", i), "is no image", {}});
  ASSERT_TRUE(write_prepared_copy(folder / "a.pn", small_set(), "s", files));
  SetFiles kept;
  ASSERT_TRUE(map_prepared_copy(folder / "a.pn", "s", &kept));
  ASSERT_EQ(kept.rows.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(kept.rows[i].path, files.rows[i].path);
    EXPECT_EQ(kept.rows[i].content, files.rows[i].content);
  }
  ASSERT_EQ(kept.left_out.size(), files.left_out.size());
  EXPECT_EQ(kept.left_out.back().path, "cat/39999.txt");
  EXPECT_EQ(kept.left_out.back().why, "is no image");
}

TEST(PreparedCopy, KeepsSetsWithoutLabels) {
  const TemporaryFolder folder;
  auto set = small_set();
  set.labels = torch::Tensor();
  set.class_names = {};
  ASSERT_TRUE(write_prepared_copy(folder / "a.pn", set, "s"));
  const auto copy = map_prepared_copy(folder / "a.pn", "s");
  ASSERT_TRUE(copy);
  EXPECT_FALSE(copy->has_labels());
  EXPECT_TRUE(copy->inputs.equal(set.inputs));
}

TEST(PreparedCopy, IsOfUseOnlyForItsSource) {
  const TemporaryFolder folder;
  write_prepared_copy(folder / "a.pn", small_set(), "source 1");
  EXPECT_FALSE(map_prepared_copy(folder / "a.pn", "source 2"));
  EXPECT_TRUE(map_prepared_copy(folder / "a.pn", std::nullopt));
  EXPECT_FALSE(map_prepared_copy(folder / "b.pn", std::nullopt));
}

TEST(PreparedCopy, OutlivesItsFileAndDoesNotWriteToIt) {
  const TemporaryFolder folder;
  const auto file = folder / "a.pn";
  write_prepared_copy(file, small_set(), "s");
  const auto before = bytes_of(file);
  const auto copy = map_prepared_copy(file, "s");
  ASSERT_TRUE(copy);
  copy->inputs.fill_(7);
  EXPECT_EQ(bytes_of(file), before);
  std::filesystem::remove(file);
  const auto slice = copy->inputs[1];
  EXPECT_EQ(slice.sum().item<int64_t>(), 7 * 3 * 5 * 7);
}

TEST(PreparedCopy, IsNotUsedDamaged) {
  const TemporaryFolder folder;
  const auto good = folder.file("good.pn", "");
  write_prepared_copy(good, small_set(), "s");
  auto bytes = bytes_of(good);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_FALSE(map_prepared_copy(folder.file("damaged.pn", bytes), "s"));
}

TEST(PreparedCopy, IsNotUsedTruncatedOrLonger) {
  const TemporaryFolder folder;
  const auto good = folder.file("good.pn", "");
  write_prepared_copy(good, small_set(), "s");
  const auto bytes = bytes_of(good);
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{8}, size_t{23}, size_t{24}, size_t{100}, size_t{4096}, bytes.size() - 1})
    EXPECT_FALSE(map_prepared_copy(folder.file("short.pn", bytes.substr(0, size)), "s")) << size;
  EXPECT_FALSE(map_prepared_copy(folder.file("long.pn", bytes + "x"), "s"));
  EXPECT_TRUE(map_prepared_copy(folder.file("same.pn", bytes), "s"));
}

// A tensor file that is whole but not ours.
TEST(PreparedCopy, IsNotUsedForeign) {
  const TemporaryFolder folder;
  const auto version = std::to_string(kReaderVersion);
  const auto set = small_set();
  const auto written = [&](const std::vector<NamedTensor>& tensors,
                           const std::map<std::string, std::string>& metadata) {
    write_tensor_file(folder / "foreign.pn", tensors, metadata);
    return map_prepared_copy(folder / "foreign.pn", "s").has_value();
  };
  const std::vector<NamedTensor> tensors = {{"images", set.inputs}, {"labels", set.labels}};
  EXPECT_TRUE(written(tensors, {{"reader", version}, {"source", "s"}, {"class_names", R"(["a","b"])"}}));
  EXPECT_FALSE(written(tensors, {}));
  EXPECT_FALSE(written(tensors, {{"reader", "0"}, {"source", "s"}, {"class_names", R"(["a","b"])"}}));
  EXPECT_FALSE(written(tensors, {{"reader", version}, {"source", "s"}, {"class_names", "names"}}));
  EXPECT_FALSE(written(tensors, {{"reader", version}, {"source", "s"}, {"class_names", R"(["a"])"}}));
  EXPECT_FALSE(written({{"labels", set.labels}}, {{"reader", version}, {"source", "s"}, {"class_names", "[]"}}));
  std::filesystem::create_directory(folder / "folder.pn");
  EXPECT_FALSE(map_prepared_copy(folder / "folder.pn", "s"));
  ASSERT_EQ(::mkfifo((folder / "pipe.pn").c_str(), 0600), 0);
  EXPECT_FALSE(map_prepared_copy(folder / "pipe.pn", "s"));
}

TEST(PreparedCopy, IsNotWrittenWhereThatCannotBe) {
  const TemporaryFolder folder;
  const auto file = folder.file("file", "");
  EXPECT_FALSE(write_prepared_copy(file / "a.pn", small_set(), "s"));
  EXPECT_FALSE(write_prepared_copy("/proc/prepared/a.pn", small_set(), "s"));
  auto numbers = small_set();
  numbers.inputs = torch::zeros({2, 4});
  EXPECT_FALSE(write_prepared_copy(folder / "numbers.pn", numbers, "s"));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"file"}));
}

TEST(ContentHash, ChangesWithEveryBitAndLength) {
  std::string bytes(200, '\0');
  std::set<uint64_t> hashes = {content_hash(bytes)};
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto changed = bytes;
    changed[bit / 8] = static_cast<char>(1 << bit % 8);
    hashes.insert(content_hash(changed));
  }
  for (size_t size = 0; size < bytes.size(); ++size) hashes.insert(content_hash(std::string(size, '\0')));
  EXPECT_EQ(hashes.size(), 1 + 8 * bytes.size() + bytes.size());
}

}  // namespace
}  // namespace priornet
