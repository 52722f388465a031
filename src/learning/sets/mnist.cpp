#include "learning/sets/families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <array>

#include "learning/data/byte_stream.h"
#include "learning/data/file_tree.h"

namespace priornet {
namespace {

constexpr int kUnsignedByte = 0x08;
constexpr int kMaxRank = 4;

using FourBytes = std::array<unsigned char, 4>;

int64_t big_endian(const FourBytes& b) {
  return int64_t{b[0]} << 24 | int64_t{b[1]} << 16 | int64_t{b[2]} << 8 | int64_t{b[3]};
}

void check_magic(const std::string& name, const FourBytes& magic) {
  if (magic[0] == 0x1f && magic[1] == 0x8b)
    throw DataError(fmt::format("{}: is gzip data: wanted an IDX file, or a name that ends in .gz", name));
  if (magic[0] != 0 || magic[1] != 0)
    throw DataError(
        fmt::format("{}: is not an IDX file: it starts with the bytes {:02x} {:02x}, wanted 00 00, type and rank", name,
                    magic[0], magic[1]));
  if (magic[2] != kUnsignedByte)
    throw DataError(fmt::format("{}: byte 2, the type of the values, is {:02x}: wanted {:02x} (uint8)", name, magic[2],
                                kUnsignedByte));
  if (magic[3] < 1 || magic[3] > kMaxRank)
    throw DataError(fmt::format("{}: byte 3, the rank, is {}: wanted 1 to {}", name, magic[3], kMaxRank));
}

}  // namespace

torch::Tensor read_idx(ByteStream& bytes) {
  FourBytes magic{};
  bytes.read_exactly(magic.data(), magic.size(), "the IDX header");
  check_magic(bytes.name(), magic);
  std::vector<int64_t> shape;
  for (int i = 0; i < magic[3]; ++i) {
    FourBytes size{};
    bytes.read_exactly(size.data(), size.size(), "the IDX header");
    shape.push_back(big_endian(size));
  }
  auto values = memory_for(bytes, shape, torch::kUInt8);
  const auto what = fmt::format("the values [{}]", fmt::join(shape, ", "));
  bytes.read_exactly(values.data_ptr(), values.nbytes(), what);
  bytes.expect_end(what);
  return values;
}

namespace {

void check_shape(const std::string& name, const torch::Tensor& values, bool fits, const char* wanted) {
  if (!fits)
    throw DataError(fmt::format("{}: has shape [{}]: wanted {}", name,
                                fmt::join(values.sizes().begin(), values.sizes().end(), ", "), wanted));
}

torch::Tensor to_images(const std::string& name, const torch::Tensor& values, bool transposed) {
  check_shape(name, values, values.dim() == 3 && values.size(1) > 0 && values.size(2) > 0, "images, [N, H, W]");
  const auto images = values.unsqueeze(1);
  return transposed ? images.transpose(2, 3).contiguous() : images;
}

torch::Tensor to_labels(const std::string& name, const torch::Tensor& values, const IdxSet& set) {
  check_shape(name, values, values.dim() == 1, "labels, [N]");
  const auto classes = static_cast<int64_t>(set.class_names.size());
  auto labels = torch::empty(values.sizes(), torch::kInt64);
  const auto* from = values.data_ptr<uint8_t>();
  auto* to = labels.data_ptr<int64_t>();
  for (int64_t row = 0; row < values.size(0); ++row) {
    to[row] = from[row] - set.first_label;
    constexpr int64_t kHeader = 8;
    if (to[row] < 0 || to[row] >= classes)
      throw DataError(fmt::format("{}: byte {}: label {} of row {} (counted from 0) should be in [{}, {})", name,
                                  kHeader + row, from[row], row, set.first_label, set.first_label + classes));
  }
  return labels;
}

}  // namespace

Dataset read_idx_set(const std::filesystem::path& root, const IdxSet& set) {
  Dataset result{root.string(), {}, {}, set.class_names, {}};
  visit_named_files(root, {set.images, set.labels}, [&](size_t which, ByteStream& bytes) {
    const auto values = read_idx(bytes);
    if (which == 0)
      result.inputs = to_images(bytes.name(), values, set.transposed);
    else
      result.labels = to_labels(bytes.name(), values, set);
  });
  if (result.labels.size(0) != result.size())
    throw DataError(fmt::format("{}: {} holds {} images, {} holds {} labels", root.string(), set.images, result.size(),
                                set.labels, result.labels.size(0)));
  return result;
}

// MNIST and the sets in its format: 60,000 images to train with and 10,000 to test with, 28x28 grey.

namespace {

const char* const kTrainImages = "train-images-idx3-ubyte";
const char* const kTrainLabels = "train-labels-idx1-ubyte";
const char* const kTestImages = "t10k-images-idx3-ubyte";
const char* const kTestLabels = "t10k-labels-idx1-ubyte";

struct FileFacts {
  const char* name;
  int64_t compressed_size;
  const char* compressed_sha256;
  const char* sha256;  ///< of the expanded file; empty if unknown
};

struct MnistLike {
  std::string name;
  std::string title;
  std::string homepage;
  std::string terms;
  std::vector<std::string> sources;
  std::string torchvision_folder;
  std::vector<FileFacts> files;
  std::vector<std::string> class_names;
};

int64_t expanded_size(const std::string& name) {
  const bool train = name.starts_with("train");
  return name.find("images") != std::string::npos ? 16 + (train ? 60'000 : 10'000) * 784
                                                  : 8 + (train ? 60'000 : 10'000);
}

std::vector<KnownFile> known_files(const MnistLike& set) {
  std::vector<KnownFile> files;
  for (const auto& facts : set.files) {
    KnownFile file{set.name + "/" + facts.name + ".gz", facts.compressed_size, facts.compressed_sha256, "", {}};
    for (const auto& source : set.sources) file.urls.push_back(source + facts.name + ".gz");
    files.push_back(std::move(file));
  }
  for (const auto& facts : set.files)
    if (*facts.sha256 != '\0')
      files.push_back({set.name + "/" + facts.name, expanded_size(facts.name), facts.sha256, "", {}});
  return files;
}

SetPart part_of(const MnistLike& set, const std::string& name, int64_t count, const char* images, const char* labels) {
  const IdxSet idx{images, labels, set.class_names, 0, false};
  return {name, count, {images, labels}, set.class_names, std::nullopt, [idx](const auto& location, const auto&) {
            return read_idx_set(location, idx);
          }};
}

CatalogueEntry entry_of(const MnistLike& set) {
  CatalogueEntry entry;
  entry.name = set.name;
  entry.title = set.title;
  entry.homepage = set.homepage;
  entry.terms = set.terms;
  entry.files = known_files(set);
  for (const auto& folder : {set.name, set.torchvision_folder})
    entry.locations.push_back({folder, {kTrainImages, kTestImages}});
  entry.parts = {part_of(set, "train", 60'000, kTrainImages, kTrainLabels),
                 part_of(set, "test", 10'000, kTestImages, kTestLabels)};
  entry.splits = {
      {"train", 55'000, "the training file without its first 5,000", {{"train", 5'000, 55'000}}},
      {"validation", 5'000, "the first 5,000 of the training file", {{"train", 0, 5'000}}},
      {"test", 10'000, "the test file", {{"test", 0, 10'000}}},
      {"valid+test", 15'000, "validation, then test", {{"train", 0, 5'000}, {"test", 0, 10'000}}},
      {"train+validation", 60'000, "the training file", {{"train", 0, 60'000}}},
      {"all", 70'000, "the training file, then the test file", {{"train", 0, 60'000}, {"test", 0, 10'000}}},
  };
  return entry;
}

MnistLike mnist() {
  return {"mnist",
          "MNIST: handwritten digits, 28x28 grey, white on black",
          "http://yann.lecun.com/exdb/mnist/",
          "Commonly stated as CC BY-SA 3.0; the authors' page names no licence",
          {"https://storage.googleapis.com/cvdf-datasets/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/",
           "http://yann.lecun.com/exdb/mnist/"},
          "MNIST/raw",
          {{kTrainImages, 9'912'422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
           {kTrainLabels, 28'881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
           {kTestImages, 1'648'877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
           {kTestLabels, 4'542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}},
          digit_names()};
}

MnistLike fashion_mnist() {
  return {"fashion-mnist",
          "Fashion-MNIST: 10 kinds of clothing, 28x28 grey",
          "https://github.com/zalandoresearch/fashion-mnist",
          "MIT licence",
          {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
           "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/"},
          "FashionMNIST/raw",
          {{kTrainImages, 26'421'880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
           {kTrainLabels, 29'515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
           {kTestImages, 4'422'102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
           {kTestLabels, 5'148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}},
          {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"}};
}

MnistLike kmnist() {
  return {"kmnist",
          "Kuzushiji-MNIST: 10 cursive Japanese characters, 28x28 grey",
          "https://github.com/rois-codh/kmnist",
          "CC BY-SA 4.0",
          {"http://codh.rois.ac.jp/kmnist/dataset/kmnist/", "https://codh.rois.ac.jp/kmnist/dataset/kmnist/"},
          "KMNIST/raw",
          {{kTrainImages, 18'165'135, "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4", ""},
           {kTrainLabels, 29'497, "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17", ""},
           {kTestImages, 3'041'136, "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5", ""},
           {kTestLabels, 5'120, "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c", ""}},
          {"o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"}};
}

}  // namespace

std::vector<CatalogueEntry> mnist_like_sets() {
  return {entry_of(mnist()), entry_of(fashion_mnist()), entry_of(kmnist())};
}

// EMNIST: the NIST letters and digits in MNIST's format, several selections of them in one archive.

namespace {

struct Selection {
  std::string name;
  int64_t train;
  int64_t test;
  std::vector<std::string> class_names;
  int64_t first_label;
};

// Letters that look alike in both cases are one class; the others are two.
std::vector<std::string> balanced_names() {
  auto names = digit_names();
  for (char letter = 'A'; letter <= 'Z'; ++letter) names.emplace_back(1, letter);
  for (const char letter : std::string("abdefghnqrt")) names.emplace_back(1, letter);
  return names;
}

std::vector<std::string> letter_names() {
  std::vector<std::string> names;
  for (char letter = 'a'; letter <= 'z'; ++letter) names.emplace_back(1, letter);
  return names;
}

SetPart part_of(const Selection& selection, const std::string& which, int64_t count) {
  const auto stem = "emnist-" + selection.name + "-" + which;
  // The images are transposed.
  const IdxSet idx{stem + "-images-idx3-ubyte", stem + "-labels-idx1-ubyte", selection.class_names,
                   selection.first_label, true};
  SetPart part;
  part.name = selection.name + "-" + which;
  part.count = count;
  part.files = {idx.images, idx.labels};
  part.class_names = selection.class_names;
  part.read = [idx](const auto& location, const auto&) { return read_idx_set(location, idx); };
  return part;
}

}  // namespace

CatalogueEntry emnist_set() {
  CatalogueEntry entry;
  entry.name = "emnist";
  entry.title = "EMNIST: handwritten letters and digits, 28x28 grey, white on black";
  entry.homepage = "https://www.nist.gov/itl/products-and-services/emnist-dataset";
  entry.terms = "Published by NIST, a US government agency, without a named licence; cite Cohen et al., 2017";
  entry.files = {{"emnist/gzip.zip",
                  561'753'746,
                  "fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e",
                  "",
                  {"https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
                   "https://www.itl.nist.gov/iaui/vip/cs_links/EMNIST/gzip.zip"}}};
  const std::vector<Selection> selections = {{"letters", 124'800, 20'800, letter_names(), 1},
                                             {"digits", 240'000, 40'000, digit_names(), 0},
                                             {"balanced", 112'800, 18'800, balanced_names(), 0}};
  for (const auto& selection : selections)
    for (const auto& part :
         {part_of(selection, "train", selection.train), part_of(selection, "test", selection.test)}) {
      entry.parts.push_back(part);
      entry.splits.push_back(whole_part(part, "the file of that name"));
    }
  std::vector<std::string> images;
  for (const auto& part : entry.parts) images.push_back(part.files.front());
  entry.locations = {
      {"emnist", images}, {"emnist/gzip", images}, {"EMNIST/raw", images}, {"gzip", images}, {"emnist/gzip.zip", {}}};
  return entry;
}

}  // namespace priornet
