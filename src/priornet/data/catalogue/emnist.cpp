#include <priornet/data/catalogue/families.h>
#include <priornet/data/formats/idx.h>

// EMNIST: the NIST letters and digits in MNIST's format, several selections of them in one archive.

namespace priornet {
namespace {

struct Selection {
  std::string name;
  int64_t train;
  int64_t test;
  std::vector<std::string> class_names;
  int64_t first_label;
};

// Letters that look alike in both cases are one class; those that do not are two.
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
  // The images lie on their side.
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
