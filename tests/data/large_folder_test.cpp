#include <gtest/gtest.h>
#include <priornet/learning/images.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/temporary_folder.h>

#include <cstdlib>

#include "learning/base/file_io.h"
#include "learning/data/growing_tensor_file.h"
#if defined(PRIORNET_HAVE_LIBARCHIVE)
#include <testing/archive_bytes.h>
#endif

// Folders of images that memory has no room for are decoded straight into their prepared copy.

namespace priornet {
namespace {

/// While this object lives, no image fits into memory.
struct NoMemory {
  NoMemory() { ::setenv("PRIORNET_MEMORY", "1", 1); }
  ~NoMemory() { ::unsetenv("PRIORNET_MEMORY"); }
};

struct ManyPhotos : TemporaryFolder {
  std::string photo(const std::string& name, int64_t channels, uint64_t seed) const {
    const auto png = encode_png(torch::randint(256, {channels, 6, 5}, make_generator(seed), torch::kUInt8));
    std::filesystem::create_directories((*this / name).parent_path());
    file(name, png);
    return png;
  }
  LoadOptions options(const std::string& root, SetFiles* files = nullptr) const {
    LoadOptions options;
    options.root = *this / root;
    options.files = files;
    return options;
  }
  Dataset load(const std::string& name, const std::string& root, SetFiles* files = nullptr) const {
    return load_set((*this / name).string(), options(root, files));
  }
};

void expect_same_set(const Dataset& found, const Dataset& wanted) {
  EXPECT_TRUE(found.inputs.equal(wanted.inputs));
  EXPECT_EQ(found.class_names, wanted.class_names);
  if (wanted.has_labels()) {
    EXPECT_TRUE(found.labels.equal(wanted.labels));
  }
}

// The set is the same if it is decoded without memory, if its copy is read without memory, and if that copy is read
// with memory.
void expect_same_without_memory(const ManyPhotos& photos, const std::string& name) {
  SetFiles wanted_files, found_files, copied_files;
  const auto wanted = photos.load(name, "with memory", &wanted_files);
  {
    const NoMemory no_memory;
    expect_same_set(photos.load(name, "without", &found_files), wanted);
    expect_same_set(photos.load(name, "without", &copied_files), wanted);
  }
  expect_same_set(photos.load(name, "without"), wanted);
  for (const auto* files : {&found_files, &copied_files}) {
    ASSERT_EQ(files->rows.size(), wanted_files.rows.size());
    for (size_t i = 0; i < files->rows.size(); ++i) {
      EXPECT_EQ(files->rows[i].path, wanted_files.rows[i].path);
      EXPECT_EQ(files->rows[i].content, wanted_files.rows[i].content);
    }
    ASSERT_EQ(files->left_out.size(), wanted_files.left_out.size());
    for (size_t i = 0; i < files->left_out.size(); ++i) EXPECT_EQ(files->left_out[i].why, wanted_files.left_out[i].why);
  }
  const auto copies = std::filesystem::directory_iterator(photos / "without/prepared");
  EXPECT_EQ(std::distance(begin(copies), end(copies)), 1) << "nothing but the copy is left";
}

// 133 photos fill several batches; one photo is damaged. As paths, a-b comes before a/.
TEST(LargeFolder, IsThatOfMemory) {
  const ManyPhotos photos;
  for (uint64_t i = 0; i < 44; ++i)
    for (const auto* folder : {"a", "a-b", "b"})
      photos.photo(std::string("set/") + folder + "/" + std::to_string(i) + ".png", 3, i);
  photos.file("set/a/7.png", "no image");
  expect_same_without_memory(photos, "set");
}

TEST(LargeFolder, BecomesOneOfColoursWhereTheLastImageHasThem) {
  const ManyPhotos photos;
  for (uint64_t i = 0; i < 60; ++i) photos.photo("set/" + std::to_string(100 + i) + ".png", i == 57 ? 3 : 1, i);
  expect_same_without_memory(photos, "set");
}

#if defined(PRIORNET_HAVE_LIBARCHIVE)
TEST(LargeFolder, MayBeAnArchiveInAnyOrder) {
  const ManyPhotos photos;
  std::vector<std::pair<std::string, std::string>> members;
  for (uint64_t i = 0; i < 60; ++i) {
    const auto number = std::to_string(100 + i * 37 % 60);
    members.emplace_back((i % 2 == 0 ? "one/" : "two/") + number + ".png", photos.photo("photo.png", 1, i));
  }
  photos.file("set.tar.gz", archive_bytes(members, ArchiveKind::kTarGz));
  expect_same_without_memory(photos, "set.tar.gz");
}
#endif

TEST(LargeFolder, NeedsNoPlaceForItsCopy) {
  const ManyPhotos photos;
  for (uint64_t i = 0; i < 40; ++i) photos.photo("set/" + std::to_string(100 + i) + ".png", 1, i);
  const auto wanted = photos.load("set", "with memory");
  photos.file("taken", "a file where a folder should be");
  const NoMemory no_memory;
  expect_same_set(photos.load("set", "taken"), wanted);
}

TEST(ContentHash, OfPiecesIsThatOfTheWhole) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes.push_back(static_cast<char>(i * i % 251));
  for (const size_t piece : {1, 3, 63, 64, 65, 128, 200, 1000}) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{64}, size_t{130}, bytes.size()}) {
      ContentHash hash;
      for (size_t at = 0; at < size; at += piece)
        hash.add(std::string_view(bytes).substr(at, std::min(piece, size - at)));
      EXPECT_EQ(hash.value(), content_hash(std::string_view(bytes).substr(0, size))) << piece << ", " << size;
    }
  }
  EXPECT_EQ(content_hash(bytes), 0x8a84f5b9300b12c7u) << "as files that were written before have it";
}

TEST(GrowingTensorFile, IsATensorFile) {
  const TemporaryFolder folder;
  const auto path = folder / "sub/a.safetensors";
  const auto images = torch::randint(256, {7, 1, 3, 3}, make_generator(1), torch::kUInt8);
  const auto labels = torch::arange(7, torch::kInt64);
  torch::Tensor mapped;
  {
    GrowingTensorFile file(path);
    EXPECT_FALSE(file.has_begun());
    file.append(images.slice(0, 0, 3).contiguous());
    file.append(images.slice(0, 3).contiguous());
    mapped = file.values({7, 1, 3, 3});
    EXPECT_FALSE(std::filesystem::exists(path));
    file.finish({"images", {7, 1, 3, 3}}, {{"labels", labels}}, {{"word", "yes"}});
  }
  EXPECT_TRUE(mapped.equal(images));
  const auto read = read_tensor_file(path);
  EXPECT_TRUE(read.at("images").equal(images));
  EXPECT_TRUE(read.at("labels").equal(labels));
  EXPECT_EQ(read.metadata.at("word"), "yes");
  auto bytes = bytes_of(path);
  bytes[bytes.size() - 60] = static_cast<char>(bytes[bytes.size() - 60] ^ 1);
  EXPECT_THROW(read_tensor_file(folder.file("damaged", bytes)), DataError);
}

TEST(GrowingTensorFile, IsGoneUnlessItIsFinished) {
  const TemporaryFolder folder;
  {
    GrowingTensorFile file(folder / "a.safetensors");
    file.append(torch::ones({5}, torch::kUInt8));
    EXPECT_THROW(file.finish({"images", {5}}, {}, {{"long", std::string(1 << 20, 'x')}}), DataError);
  }
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace priornet
