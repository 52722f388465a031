#include <gtest/gtest.h>
#include <lmdb.h>
#include <priornet/uncertainty/errors.h>
#include <testing/archive_bytes.h>
#include <testing/fixtures.h>
#include <testing/image_files.h>
#include <testing/throws.h>

#include <random>

#include "learning/data/lmdb_file.h"
#include "learning/sets/path_set.h"

namespace priornet {
namespace {

using Records = std::vector<std::pair<std::string, std::string>>;

// Writes folder/data.mdb with liblmdb. `slowly` writes one record per transaction, which leaves free pages behind.
std::filesystem::path write_lmdb(const std::filesystem::path& folder, const Records& records, bool slowly = false) {
  std::filesystem::create_directories(folder);
  const auto require = [](int status) {
    if (status != 0) throw std::runtime_error(mdb_strerror(status));
  };
  MDB_env* environment = nullptr;
  require(mdb_env_create(&environment));
  require(mdb_env_set_mapsize(environment, size_t{16} << 20));
  require(mdb_env_open(environment, folder.c_str(), MDB_NOLOCK | MDB_NOSYNC, 0644));
  MDB_txn* transaction = nullptr;
  MDB_dbi database = 0;
  for (auto& [key, value] : records) {
    if (transaction == nullptr) {
      require(mdb_txn_begin(environment, nullptr, 0, &transaction));
      require(mdb_dbi_open(transaction, nullptr, 0, &database));
    }
    MDB_val k{key.size(), const_cast<char*>(key.data())};
    MDB_val v{value.size(), const_cast<char*>(value.data())};
    require(mdb_put(transaction, database, &k, &v, 0));
    if (slowly || &key == &records.back().first) {
      require(mdb_txn_commit(transaction));
      transaction = nullptr;
    }
  }
  mdb_env_close(environment);
  return folder / "data.mdb";
}

ImageFolderOptions to_8x8() {
  ImageFolderOptions options;
  options.channels = Channels::kRgb;
  options.resize = ResizeOptions{8, 8};
  return options;
}

// Images of several sizes, some larger than a page, in a tree three levels deep.
Records many_records(int count = 1500) {
  std::mt19937 random(3);
  Records records;
  for (int i = 0; i < count; ++i) {
    auto png = plain_png(i % 250, 8 + i % 3, 8);
    if (i % 100 == 0) png.append(9000, static_cast<char>(random()));  // after the end of the picture
    records.emplace_back(std::to_string(100'000 + i) + std::string(100, 'k'), png);
  }
  std::shuffle(records.begin(), records.end(), random);
  return records;
}

TEST(ReadLsun, ReadsTheLmdbAsFolderAndInItsArchive) {
  const TemporaryFolder folder;
  const auto file = write_lmdb(folder / "lsun/test_lmdb",
                               {{"b", bytes_of(fixture("images/lossy.webp"))}, {"a", plain_png(200, 20, 30)}});
  const auto set = read_lsun(folder / "lsun/test_lmdb", to_8x8());
  EXPECT_EQ(set.inputs.sizes(), (torch::IntArrayRef{2, 3, 8, 8}));
  EXPECT_TRUE(set.inputs[0].eq(200).all().item<bool>());
  EXPECT_FALSE(set.inputs[1].eq(200).all().item<bool>());
  EXPECT_FALSE(set.has_labels());
  EXPECT_TRUE(read_lsun(folder / "lsun", to_8x8()).inputs.equal(set.inputs));
  EXPECT_TRUE(read_lsun(file, to_8x8()).inputs.equal(set.inputs));
  const auto zip = folder.file(
      "test_lmdb.zip", archive_bytes({{"test_lmdb/data.mdb", bytes_of(file)}, {"test_lmdb/lock.mdb", ""}}, true));
  EXPECT_TRUE(read_lsun(zip, to_8x8()).inputs.equal(set.inputs));
}

TEST(ReadLsun, ReadsDeepTreesAndLargeValues) {
  const TemporaryFolder folder;
  for (const bool slowly : {false, true}) {
    write_lmdb(folder / (slowly ? "slow" : "fast"), many_records(), slowly);
    const auto set = read_lsun(folder / (slowly ? "slow" : "fast"), to_8x8());
    ASSERT_EQ(set.size(), 1500);
    for (int i = 0; i < 1500; ++i) ASSERT_EQ(set.inputs[i][0][0][0].item<int>(), i % 250);
  }
}

TEST(ReadLsun, ReadsAFolderOfImages) {
  const TemporaryFolder folder;
  const auto root = lay_out(folder, {{"b/1.png", plain_png(2)}, {"a/1.png", plain_png(1, 9, 9)}});
  EXPECT_EQ(first_pixels(read_lsun(root, to_8x8()).inputs), (std::vector<int>{1, 2}));
}

TEST(ReadLsun, AsksWhichOfTwoDatabasesIsMeant) {
  const TemporaryFolder folder;
  const auto one = write_lmdb(folder / "a_lmdb", {{"a", plain_png(1)}});
  const auto two = write_lmdb(folder / "b_lmdb", {{"a", plain_png(1)}});
  EXPECT_THROWS(
      DataError, read_lsun(folder / "", to_8x8()),
      ((folder / "").string() + ": holds both " + one.string() + " and " + two.string() + "; remove one of them")
          .c_str());
}

TEST(ReadLsun, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto file = write_lmdb(folder / "lmdb", {{"a\n", "no image"}});
  const auto name = file.string();
  EXPECT_THROWS(DataError, read_lsun(file, to_8x8()),
                (name + ": key \"a\\n\": should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, begins with the "
                        "bytes 6e 6f 20 69 6d "
                        "61 67 65")
                    .c_str());
  const auto whole = bytes_of(file);
  folder.file("lmdb/data.mdb", whole.substr(0, whole.size() - 1));
  EXPECT_THROWS(DataError, read_lsun(file, to_8x8()),
                (name + ": ends at byte 12287, before the end of its last page, 2 of 4096 bytes each").c_str());
  folder.file("lmdb/data.mdb", std::string(9000, 'x'));
  EXPECT_THROWS(DataError, read_lsun(file, to_8x8()),
                (name + ": should be an LMDB data file, found no such header at byte 0").c_str());
  folder.file("lmdb/data.mdb", "");
  EXPECT_THROWS(DataError, read_lsun(file, to_8x8()), (name + ": is empty").c_str());
}

// Whatever bytes are wrong, the reader returns records or throws a DataError; it never crashes.
TEST(ReadLsun, SurvivesDamagedPages) {
  const TemporaryFolder folder;
  const auto whole = bytes_of(write_lmdb(folder / "lmdb", many_records(300)));
  std::mt19937 random(5);
  int refused = 0;
  for (int trial = 0; trial < 200; ++trial) {
    auto damaged = whole;
    for (int flips = 0; flips < 4; ++flips) {
      // Changes a byte in the header or the table of a page, where the reader follows numbers.
      const auto at = random() % (damaged.size() / 4096) * 4096 + random() % 64;
      damaged[at] = static_cast<char>(random());
    }
    try {
      check_lmdb_pages("lmdb", damaged);
      folder.file("lmdb/data.mdb", damaged);
      read_lsun(folder / "lmdb", to_8x8());
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace priornet
