#include "reading.h"

#include "learning/data/byte_stream.h"
#include "learning/data/file_tree.h"
#include "learning/sets/families.h"
#include "learning/sets/path_set.h"

#include <array>
#include <vector>

#include "timing.h"

namespace priornet::bench {
namespace {

const std::vector<std::string> kTenClasses(10, "class");

int64_t read_to_end(ByteStream& bytes) {
  static std::vector<char> block(size_t{1} << 20);
  while (bytes.read(block.data(), block.size()) == block.size()) {
  }
  return bytes.offset();
}

int64_t plain_files(const std::filesystem::path& root, const std::vector<std::string>& names) {
  int64_t bytes = 0;
  for (const auto& name : names) {
    const auto plain = root / name;
    bytes += read_to_end(*open_file(std::filesystem::exists(plain) ? plain : root / (name + ".gz")));
  }
  return bytes;
}

// The variables of a MATLAB file are compressed one by one, behind a tag of 8 bytes that ends with their length.
int64_t plain_mat(const std::filesystem::path& path) {
  const auto file = open_file(path);
  std::array<char, 128> header{};
  file->read_exactly(header.data(), header.size(), "the header");
  std::array<uint32_t, 2> tag{};
  int64_t bytes = 0;
  while (file->read(tag.data(), sizeof(tag)) == sizeof(tag)) {
    PartStream variable(path.string(), *file, tag[1]);
    bytes += read_to_end(*inflate_zlib(variable));
    variable.skip_rest();
  }
  return bytes;
}

struct Reading {
  std::string work;
  std::filesystem::path path;
  std::function<void(const std::filesystem::path&)> read;
  std::function<int64_t(const std::filesystem::path&)> plain;
};

std::vector<Reading> readings(const std::filesystem::path& root) {
  CifarSet cifar{{}, 1, kTenClasses};
  for (const auto* number : {"1", "2", "3", "4", "5"})
    cifar.files.push_back(std::string("data_batch_") + number + ".bin");
  const IdxSet mnist{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", kTenClasses};
  const auto read_mnist = [=](const auto& path) { read_idx_set(path, mnist); };
  const auto plain_mnist = [=](const auto& path) { return plain_files(path, {mnist.images, mnist.labels}); };
  const auto read_cifar10 = [=](const auto& path) { read_cifar(path, cifar); };
  return {
      {"MNIST, train", root / "mnist", read_mnist, plain_mnist},
      {"Fashion-MNIST, train", root / "fashion-mnist", read_mnist, plain_mnist},
      {"CIFAR-10, train", root / "cifar-10-batches-bin", read_cifar10,
       [=](const auto& path) { return plain_files(path, cifar.files); }},
      {"CIFAR-10, train, .tar.gz", root / "cifar-10-binary.tar.gz", read_cifar10,
       [](const auto& path) { return read_to_end(*open_file(path)); }},
      {"SVHN, train, .mat", root / "svhn" / "train_32x32.mat", [](const auto& path) { read_svhn(path); }, plain_mat},
  };
}

}  // namespace

void compare_reading(const std::filesystem::path& data_root, double seconds, const ReadingReport& report,
                     const SkippedReport& skipped) {
  for (const auto& [work, path, read, plain] : readings(data_root)) {
    if (!std::filesystem::exists(path)) {
      skipped(work, path);
      continue;
    }
    ReadingTimes line{work, 0, 0, 0};
    const auto best = fastest(
        seconds, [&, &read = read, &path = path] { read(path); },
        [&, &plain = plain, &path = path] { line.bytes = plain(path); });
    line.seconds = best.ours;
    line.plain_seconds = best.plain;
    report(line);
  }
}

}  // namespace priornet::bench
