#include "learning/sets/families.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cstring>

#include "learning/data/byte_stream.h"
#include "learning/data/file_tree.h"
#include "learning/data/npy.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

constexpr int64_t kPixels = 3 * 32 * 32;
constexpr int64_t kBlock = 64;            // records read at a time: they stay in the processor's cache
constexpr int64_t kFirstGuess = 1 << 16;  // records to make room for where a file's length is not known

class RecordReader {
 public:
  RecordReader(ByteStream& bytes, const CifarSet& set)
      : bytes_(bytes),
        record_(set.label_bytes + kPixels),
        block_(std::min(kBlock, kPixels / set.label_bytes)),
        classes_(static_cast<int64_t>(set.class_names.size())) {}

  /// Reads up to `most` records and returns how many there were.
  int64_t read(int64_t most, uint8_t* pixels, int64_t* labels) {
    int64_t done = 0;
    while (done < most) {
      const auto wanted = std::min(block_, most - done);
      // Read straight to the place of the pixels: the labels take no more room than the next row. The last block has no
      // next row.
      const bool has_room = done + wanted < most;
      if (!has_room) last_block_.resize(static_cast<size_t>(wanted * record_));
      auto* to = pixels + done * kPixels;
      const auto* from = has_room ? to : last_block_.data();
      const auto got = read_block(has_room ? to : last_block_.data(), wanted);
      for (int64_t i = 0; i < got; ++i) {
        labels[done + i] = checked(from[(i + 1) * record_ - kPixels - 1], i - got);
        std::memmove(to + i * kPixels, from + (i + 1) * record_ - kPixels, kPixels);
      }
      done += got;
      if (got < wanted) break;
    }
    return done;
  }

 private:
  int64_t read_block(uint8_t* to, int64_t records) {
    const auto got = static_cast<int64_t>(bytes_.read(to, static_cast<size_t>(records * record_)));
    if (got % record_ != 0)
      throw DataError(fmt::format("{}: ends at byte {}, within record {} (counted from 0): wanted {} bytes per record",
                                  bytes_.name(), bytes_.offset(), bytes_.offset() / record_, record_));
    return got / record_;
  }

  int64_t checked(int64_t label, int64_t records_from_here) const {
    if (label >= classes_) {
      const auto record = bytes_.offset() / record_ + records_from_here;
      throw DataError(fmt::format("{}: byte {}: label {} of record {} (counted from 0) should be in [0, {})",
                                  bytes_.name(), (record + 1) * record_ - kPixels - 1, label, record, classes_));
    }
    return label;
  }

  ByteStream& bytes_;
  int64_t record_;
  int64_t block_;
  int64_t classes_;
  std::vector<uint8_t> last_block_;
};

struct Rows {
  Rows(const std::string& name, int64_t count)
      : pixels(memory_for(name, {count, 3, 32, 32}, torch::kUInt8)), labels(memory_for(name, {count}, torch::kInt64)) {}
  Rows(torch::Tensor some_pixels, torch::Tensor some_labels)
      : pixels(std::move(some_pixels)), labels(std::move(some_labels)) {}

  int64_t count() const { return labels.size(0); }
  Rows part(int64_t first, int64_t size) const {
    return {pixels.narrow(0, first, size), labels.narrow(0, first, size)};
  }
  void copy_from(const Rows& other) const {
    pixels.copy_(other.pixels);
    labels.copy_(other.labels);
  }
  int64_t fill(RecordReader& reader) const {
    return reader.read(count(), pixels.data_ptr<uint8_t>(), labels.data_ptr<int64_t>());
  }

  torch::Tensor pixels;
  torch::Tensor labels;
};

// All records of a file whose length is only known to be limited, in the memory given if they fit.
Rows read_all(ByteStream& bytes, const CifarSet& set, Rows rows) {
  RecordReader reader(bytes, set);
  auto count = rows.fill(reader);
  while (count == rows.count()) {
    const Rows next(bytes.name(), 1);
    if (next.fill(reader) == 0) break;
    const Rows larger(bytes.name(), 2 * count + 1);
    larger.part(0, count).copy_from(rows);
    larger.part(count, 1).copy_from(next);
    rows = larger;
    count += 1 + larger.part(count + 1, count).fill(reader);
  }
  if (count == 0) throw DataError(fmt::format("{}: is empty", bytes.name()));
  return rows.part(0, count);
}

}  // namespace

Dataset read_cifar(const std::filesystem::path& root, const CifarSet& set) {
  check_range("read_cifar", "files", !set.files.empty(), "at least one", 0);
  check_range("read_cifar", "label_bytes", set.label_bytes >= 1 && set.label_bytes <= kPixels, "1 to 3072",
              static_cast<double>(set.label_bytes));
  const auto files = static_cast<int64_t>(set.files.size());
  Rows all(root.string(), 0);
  int64_t each = 0;
  visit_named_files(root, set.files, [&](size_t which, ByteStream& bytes) {
    const auto file = static_cast<int64_t>(which);
    if (each == 0) {
      // Usually exact; if it is too much, the unused memory is never touched.
      const auto record = set.label_bytes + kPixels;
      const auto guess = std::clamp<int64_t>(bytes.at_most() / record, 1, kFirstGuess);
      all = Rows(root.string(), files * guess);
      if (guess * record == bytes.at_most()) touch(all.pixels);  // a file whose length is known
      const auto first = read_all(bytes, set, all.part(file * guess, guess));
      each = first.count();
      if (each != guess) {
        all = Rows(root.string(), files * each);
        all.part(file * each, each).copy_from(first);
      }
      return;
    }
    RecordReader reader(bytes, set);
    if (const auto count = all.part(file * each, each).fill(reader); count < each)
      throw DataError(fmt::format("{}: holds {} records: wanted {}, as in the other files", bytes.name(), count, each));
    bytes.expect_end(fmt::format("a file of {} records, as the others are,", each));
  });
  return {root.string(), all.pixels, all.labels, set.class_names, {}};
}

namespace {

std::vector<std::string> cifar10_names() {
  return {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
}

const char* const kTerms = "No licence named; the authors ask to cite Krizhevsky, 2009";
const char* const kHomepage = "https://www.cs.toronto.edu/~kriz/cifar.html";

std::vector<std::string> cifar100_names() {
  return {"apple",      "aquarium_fish", "baby",         "bear",       "beaver",      "bed",         "bee",
          "beetle",     "bicycle",       "bottle",       "bowl",       "boy",         "bridge",      "bus",
          "butterfly",  "camel",         "can",          "castle",     "caterpillar", "cattle",      "chair",
          "chimpanzee", "clock",         "cloud",        "cockroach",  "couch",       "crab",        "crocodile",
          "cup",        "dinosaur",      "dolphin",      "elephant",   "flatfish",    "forest",      "fox",
          "girl",       "hamster",       "house",        "kangaroo",   "keyboard",    "lamp",        "lawn_mower",
          "leopard",    "lion",          "lizard",       "lobster",    "man",         "maple_tree",  "motorcycle",
          "mountain",   "mouse",         "mushroom",     "oak_tree",   "orange",      "orchid",      "otter",
          "palm_tree",  "pear",          "pickup_truck", "pine_tree",  "plain",       "plate",       "poppy",
          "porcupine",  "possum",        "rabbit",       "raccoon",    "ray",         "road",        "rocket",
          "rose",       "sea",           "seal",         "shark",      "shrew",       "skunk",       "skyscraper",
          "snail",      "snake",         "spider",       "squirrel",   "streetcar",   "sunflower",   "sweet_pepper",
          "table",      "tank",          "telephone",    "television", "tiger",       "tractor",     "train",
          "trout",      "tulip",         "turtle",       "wardrobe",   "whale",       "willow_tree", "wolf",
          "woman",      "worm"};
}

std::vector<Location> locations_of(const std::string& name, const std::string& folder, const std::string& archive,
                                   const std::vector<std::string>& contains) {
  return {
      {folder, contains}, {name + "/" + folder, contains}, {name, contains}, {archive, {}}, {name + "/" + archive, {}}};
}

SetPart part_of(const std::string& name, int64_t count, const CifarSet& set) {
  return {name,         count,
          set.files,    set.class_names,
          std::nullopt, [set](const auto& location, const auto&) { return read_cifar(location, set); }};
}

CatalogueEntry cifar10() {
  CatalogueEntry entry;
  entry.name = "cifar10";
  entry.title = "CIFAR-10: photographs of 10 kinds of things, 32x32 colour";
  entry.homepage = kHomepage;
  entry.terms = kTerms;
  entry.files = {{"cifar-10-binary.tar.gz",
                  170'052'171,
                  "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
                  "",
                  {"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                   "https://cave.cs.toronto.edu/kriz/cifar-10-binary.tar.gz",
                   "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/cifar-10-binary.tar.gz"}}};
  const std::vector<std::pair<std::string, std::string>> batches = {
      {"data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
      {"data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
      {"data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
      {"data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
      {"data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
      {"test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}};
  std::vector<std::string> names;
  for (const auto& [name, sha256] : batches) {
    names.push_back(name);
    entry.files.push_back({"cifar-10-batches-bin/" + name, 30'730'000, sha256, "", {}});
  }
  entry.locations = locations_of("cifar10", "cifar-10-batches-bin", "cifar-10-binary.tar.gz", names);
  const std::vector<std::string> train(names.begin(), names.end() - 1);
  entry.parts = {part_of("train", 50'000, {train, 1, cifar10_names()}),
                 part_of("test", 10'000, {{"test_batch.bin"}, 1, cifar10_names()})};
  entry.splits = {whole_part(entry.parts[0], "data batches 1 to 5"), whole_part(entry.parts[1], "the test batch")};
  return entry;
}

CatalogueEntry cifar100() {
  CatalogueEntry entry;
  entry.name = "cifar100";
  entry.title = "CIFAR-100: photographs of 100 kinds of things, 32x32 colour";
  entry.homepage = kHomepage;
  entry.terms = kTerms;
  entry.files = {{"cifar-100-binary.tar.gz",
                  168'513'733,
                  "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
                  "",
                  {"https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
                   "https://cave.cs.toronto.edu/kriz/cifar-100-binary.tar.gz"}},
                 {"cifar-100-binary/train.bin",
                  153'700'000,
                  "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
                  "",
                  {}},
                 {"cifar-100-binary/test.bin",
                  30'740'000,
                  "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
                  "",
                  {}}};
  entry.locations = locations_of("cifar100", "cifar-100-binary", "cifar-100-binary.tar.gz", {"train.bin", "test.bin"});
  entry.parts = {part_of("train", 50'000, {{"train.bin"}, 2, cifar100_names()}),
                 part_of("test", 10'000, {{"test.bin"}, 2, cifar100_names()})};
  entry.splits = {whole_part(entry.parts[0], "the training file"), whole_part(entry.parts[1], "the test file")};
  return entry;
}

}  // namespace

std::vector<CatalogueEntry> cifar_sets() { return {cifar10(), cifar100()}; }

namespace {

constexpr const char* kFile = "cifar10h-counts.npy";

torch::Tensor checked(const std::string& name, const torch::Tensor& counts) {
  const auto classes = static_cast<int64_t>(cifar10_names().size());
  if (counts.scalar_type() != torch::kInt64 || counts.dim() != 2 || counts.size(1) != classes)
    throw DataError(fmt::format("{}: should hold counts, int64 [N, {}]", name, classes));
  if (counts.numel() > 0 && counts.min().item<int64_t>() < 0)
    throw DataError(fmt::format("{}: should hold counts, found {}", name, counts.min().item<int64_t>()));
  const auto nobody = (counts.sum(1) == 0).nonzero();
  if (nobody.size(0) > 0)
    throw DataError(fmt::format("{}: nobody labelled image {} (counted from 0)", name, nobody[0][0].item<int64_t>()));
  return counts.to(torch::kFloat32);
}

}  // namespace

Dataset read_cifar10h(const std::filesystem::path& root) {
  Dataset set;
  visit_named_files(root, {kFile},
                    [&](size_t, ByteStream& bytes) { set.inputs = checked(bytes.name(), read_npy(bytes)); });
  set.name = root.string();
  set.feature_names = cifar10_names();
  return set;
}

CatalogueEntry cifar10h_set() {
  CatalogueEntry entry;
  entry.name = "cifar10h";
  entry.title =
      "CIFAR-10H: how many of about 50 people gave each image of cifar10:test each label, 10 counts per image";
  entry.homepage = "https://github.com/jcpeterson/cifar-10h";
  entry.terms = "CC BY-NC-SA 4.0, to be cited as Peterson et al., 2019";
  entry.show_terms = true;
  entry.files = {{"cifar-10h/cifar10h-counts.npy",
                  0,
                  "",
                  "",
                  {"https://github.com/jcpeterson/cifar-10h/raw/master/data/cifar10h-counts.npy"}}};
  entry.locations = {{"cifar-10h", {kFile}}, {"cifar-10h/data", {kFile}}, {"cifar10h", {kFile}}, {".", {kFile}}};
  entry.parts = {{"test", 10'000, {kFile}, {}, std::nullopt, [](const auto& location, const auto&) {
                    return read_cifar10h(location / kFile);
                  }}};
  entry.splits = {whole_part(entry.parts[0], "the whole file")};
  return entry;
}

}  // namespace priornet
