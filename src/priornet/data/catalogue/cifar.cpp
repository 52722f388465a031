#include <priornet/data/catalogue/families.h>
#include <priornet/data/formats/cifar.h>

namespace priornet {
namespace {

const char* const kTerms = "No licence named; the authors ask to cite Krizhevsky, 2009";
const char* const kHomepage = "https://www.cs.toronto.edu/~kriz/cifar.html";

std::vector<std::string> cifar10_names() {
  return {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
}

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

}  // namespace priornet
