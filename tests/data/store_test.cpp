#include <gtest/gtest.h>
#include <priornet/learning/catalogue.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <map>

namespace priornet {
namespace {

namespace fs = std::filesystem;

fs::path root_for(const std::map<std::string, std::string>& variables) {
  return data_root([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

void touch(const TemporaryFolder& folder, const std::string& name) {
  fs::create_directories((folder / name).parent_path());
  folder.file(name, "x");
}

TEST(DataRoot, ComesFromTheEnvironment) {
  EXPECT_EQ(root_for({{"PRIORNET_DATA", "/a"}, {"XDG_DATA_HOME", "/b"}, {"HOME", "/c"}}), "/a");
  EXPECT_EQ(root_for({{"PRIORNET_DATA", ""}, {"XDG_DATA_HOME", "/b"}, {"HOME", "/c"}}), "/b/priornet");
  EXPECT_EQ(root_for({{"HOME", "/c"}}), "/c/.local/share/priornet");
  EXPECT_THROWS(DataError, root_for({}),
                "no folder for data sets: set PRIORNET_DATA (XDG_DATA_HOME and HOME are not set either)");
}

TEST(Store, FindsFilesLaidOutByHandPlainOrCompressed) {
  const TemporaryFolder root;
  EXPECT_FALSE(find_location(entry_named("mnist"), root / ""));
  for (const auto* name :
       {"mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte", "fashion-mnist/train-images-idx3-ubyte.gz",
        "fashion-mnist/train-labels-idx1-ubyte.gz", "cifar10/cifar-10-batches-bin/data_batch_1.bin",
        "omniglot/images_evaluation.zip", "semeion.data"})
    touch(root, name);
  const auto location = [&](const std::string& set) { return find_location(entry_named(set), root / ""); };
  EXPECT_EQ(location("mnist"), root / "" / "mnist");
  EXPECT_EQ(location("fashion-mnist"), root / "" / "fashion-mnist");
  EXPECT_EQ(location("cifar10"), root / "" / "cifar10/cifar-10-batches-bin");
  EXPECT_EQ(location("omniglot"), root / "" / "omniglot");
  EXPECT_EQ(location("semeion"), root / "");
  EXPECT_FALSE(location("kmnist"));
}

TEST(Store, KnowsWhichPartsAreThere) {
  const TemporaryFolder root;
  for (const auto* name : {"mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte.gz",
                           "mnist/train-images-idx3-ubyte", "omniglot/images_evaluation.zip"})
    touch(root, name);
  const auto there = [&](const std::string& set, const std::string& part) {
    const auto& entry = entry_named(set);
    return find_location(entry, part_named(entry, part), root / "").has_value();
  };
  EXPECT_TRUE(there("mnist", "test"));
  EXPECT_FALSE(there("mnist", "train"));  // without its labels
  EXPECT_TRUE(there("omniglot", "evaluation"));
  EXPECT_FALSE(there("omniglot", "background"));
}

TEST(Store, PrefersAFolderToTheArchive) {
  const TemporaryFolder root;
  touch(root, "cifar-10-binary.tar.gz");
  const auto& entry = entry_named("cifar10");
  EXPECT_EQ(find_location(entry, root / ""), root / "" / "cifar-10-binary.tar.gz");
  touch(root, "cifar-10-batches-bin/test_batch.bin");
  EXPECT_EQ(find_location(entry, root / ""), root / "" / "cifar-10-batches-bin");
  // The folder has only the test batch, so the rest still comes from the archive.
  EXPECT_EQ(find_location(entry, part_named(entry, "train"), root / ""), root / "" / "cifar-10-binary.tar.gz");
}

TEST(Store, FindsAKnownFileInEveryPlaceOfItsSet) {
  const TemporaryFolder root;
  const auto& entry = entry_named("cifar10");
  EXPECT_FALSE(find_file(entry, entry.files[0], root / ""));
  touch(root, "cifar10/cifar-10-binary.tar.gz");
  touch(root, "cifar10/data_batch_1.bin");
  EXPECT_EQ(find_file(entry, entry.files[0], root / ""), root / "" / "cifar10/cifar-10-binary.tar.gz");
  EXPECT_EQ(find_file(entry, entry.files[1], root / ""), root / "" / "cifar10/data_batch_1.bin");
}

TEST(Store, FingerprintsChangeWithNameSizeAndTime) {
  const TemporaryFolder folder;
  const auto fingerprint = [&](const std::string& name) {
    return source_fingerprint(folder / "", {folder / "" / name});
  };
  folder.file("a", "12");
  folder.file("b", "12");
  fs::last_write_time(folder / "b", fs::last_write_time(folder / "a"));
  const auto before = fingerprint("a");
  EXPECT_EQ(before, fingerprint("a"));
  EXPECT_TRUE(before.starts_with("1 files, 2 bytes, ")) << before;
  EXPECT_NE(before, fingerprint("b"));
  fs::last_write_time(folder / "a", fs::last_write_time(folder / "a") - std::chrono::seconds(1));
  EXPECT_NE(before, fingerprint("a"));
}

TEST(Store, SourceFilesAreThoseOfThePart) {
  const TemporaryFolder root;
  for (const auto* name : {"images_background/b/1.png", "images_background/a/2.png", "images_evaluation/c/3.png"})
    touch(root, name);
  const auto& part = part_named(entry_named("omniglot"), "background");
  EXPECT_EQ(source_files(part, root / ""),
            (std::vector<fs::path>{root / "" / "images_background/a/2.png", root / "" / "images_background/b/1.png"}));
}

TEST(Store, SaysHowToLayOutASetByHand) {
  EXPECT_EQ(layout_by_hand(entry_named("cifar10"), "/data"), "put cifar-10-binary.tar.gz into /data");
  EXPECT_EQ(layout_by_hand(entry_named("omniglot"), "/data"),
            "put images_background.zip, images_evaluation.zip into /data/omniglot");
}

}  // namespace
}  // namespace priornet
