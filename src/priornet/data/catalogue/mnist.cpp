#include <priornet/data/catalogue/families.h>
#include <priornet/data/formats/idx.h>

// MNIST and the sets that come in its files: 60,000 images to train with and 10,000 to test with, 28x28 grey.

namespace priornet {
namespace {

const char* const kTrainImages = "train-images-idx3-ubyte";
const char* const kTrainLabels = "train-labels-idx1-ubyte";
const char* const kTestImages = "t10k-images-idx3-ubyte";
const char* const kTestLabels = "t10k-labels-idx1-ubyte";

struct FileFacts {
  const char* name;
  int64_t compressed_size;
  const char* compressed_sha256;
  const char* sha256;  ///< of what it expands to; empty where unknown
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

}  // namespace priornet
