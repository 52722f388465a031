#include <gtest/gtest.h>
#include <priornet/data/catalogue/content_hash.h>
#include <priornet/data/catalogue/prepared_copy.h>
#include <sys/stat.h>
#include <testing/temporary_folder.h>

#include <set>

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
  EXPECT_EQ(reinterpret_cast<uintptr_t>(copy->inputs.data_ptr()) % 4096, 0u);
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

// Every byte counts but the zeros that fill pages up.
TEST(PreparedCopy, IsNotUsedWithAnyByteChanged) {
  const TemporaryFolder folder;
  const auto good = folder.file("good.pn", "");
  write_prepared_copy(good, small_set(), "s");
  const auto bytes = bytes_of(good);
  const auto header = bytes.find('\0', 24);
  size_t used = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    const bool filling = (at >= header && at < 4096) || (at >= 4096 + 210 && at < 8192);
    if (filling) continue;
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    used += map_prepared_copy(folder.file("damaged.pn", damaged), "s").has_value() ? 1 : 0;
  }
  EXPECT_EQ(used, 0u);
}

TEST(PreparedCopy, IsNotUsedTruncatedOrLonger) {
  const TemporaryFolder folder;
  const auto good = folder.file("good.pn", "");
  write_prepared_copy(good, small_set(), "s");
  const auto bytes = bytes_of(good);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{8}, size_t{23}, size_t{24}, size_t{100}, size_t{4096},
                            size_t{8192}, bytes.size() - 1})
    EXPECT_FALSE(map_prepared_copy(folder.file("short.pn", bytes.substr(0, size)), "s")) << size;
  EXPECT_FALSE(map_prepared_copy(folder.file("long.pn", bytes + "x"), "s"));
  EXPECT_TRUE(map_prepared_copy(folder.file("same.pn", bytes), "s"));
}

// A header that is whole but not ours, or claims what the file does not hold.
TEST(PreparedCopy, IsNotUsedWithAForeignHeader) {
  const TemporaryFolder folder;
  const auto with_header = [&](const std::string& json) {
    std::string bytes = "PNDATA1\n";
    const uint64_t numbers[2] = {json.size(), content_hash(json)};
    bytes.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
    bytes += json;
    bytes.resize(8192 + 16);
    return folder.file("foreign.pn", bytes);
  };
  const auto version = std::to_string(kReaderVersion);
  for (const auto& json : {
           std::string("{}"),
           std::string("[]"),
           std::string("{\"reader\":"),
           R"({"reader":)" + version + "}",
           R"({"reader":)" + version + R"(,"source":"s","shape":[9223372036854775807,9223372036854775807,4,4],)" +
               R"("has_labels":true,"class_names":["a"],"images_hash":0,"labels_hash":0})",
           R"({"reader":)" + version + R"(,"source":"s","shape":[-2,3,5,7],)" +
               R"("has_labels":true,"class_names":["a"],"images_hash":0,"labels_hash":0})",
           R"({"reader":)" + version + R"(,"source":"s","shape":"large",)" +
               R"("has_labels":true,"class_names":["a"],"images_hash":0,"labels_hash":0})",
       })
    EXPECT_FALSE(map_prepared_copy(with_header(json), "s")) << json;
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
