#include <testing/real_data.h>

#include "learning/sets/families.h"
#include "learning/sets/image_folder.h"

// The published files, compared with published counts and with the pixels that Pillow gives.

namespace priornet {
namespace {

// A hash of the pixels [C, H, W] in their order: it changes with every pixel.
uint64_t hash_of(const torch::Tensor& image) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto pixels = image.contiguous();
  for (int64_t i = 0; i < pixels.numel(); ++i) hash = (hash ^ pixels.data_ptr<uint8_t>()[i]) * 0x100000001b3;
  return hash;
}

void expect_omniglot(const Dataset& set, int64_t characters) {
  EXPECT_EQ(set.inputs.sizes().vec(), (std::vector<int64_t>{20 * characters, 1, 105, 105}));
  EXPECT_EQ(set.num_classes(), characters);
  expect_class_counts(set, std::vector<int64_t>(static_cast<size_t>(characters), 20));
  EXPECT_TRUE(set.inputs.eq(0).logical_or(set.inputs.eq(255)).all().item<bool>());
}

TEST(RealImageSets, Omniglot) {
  REAL_DATA(root, "omniglot");
  const auto background = read_omniglot(root, OmniglotPart::kBackground);
  expect_omniglot(background, 964);
  EXPECT_EQ(background.class_names.front(), "Alphabet_of_the_Magi/character01");
  expect_omniglot(read_omniglot(root, OmniglotPart::kEvaluation), 659);
}

TEST(RealImageSets, TinyImageNetValidation) {
  REAL_DATA(root, "tiny-imagenet-200");
  const auto set = read_tiny_imagenet(root, TinyImageNetPart::kValidation);
  EXPECT_EQ(set.inputs.sizes().vec(), (std::vector<int64_t>{10'000, 3, 64, 64}));
  expect_class_counts(set, std::vector<int64_t>(200, 50));
  EXPECT_EQ(set.class_names[0], "n02124075 Egyptian cat");
  EXPECT_EQ(set.class_names[static_cast<size_t>(set.labels[0].item<int64_t>())].substr(0, 9), "n03444034");
  EXPECT_EQ(hash_of(set.inputs[0]), 0xe685c4c9488f0de8);
  EXPECT_EQ(hash_of(set.inputs[2]), 0xad5cb0cdfb37f958);
  EXPECT_EQ(hash_of(set.inputs[10]), 0x84c9ee98d4c4e105);  // grey
  EXPECT_EQ(hash_of(set.inputs[9999]), 0xfe7941c08374fe1c);
}

TEST(RealImageSets, TinyImageNetTest) {
  REAL_DATA(root, "tiny-imagenet-200");
  const auto set = read_tiny_imagenet(root, TinyImageNetPart::kTest);
  EXPECT_EQ(set.inputs.sizes().vec(), (std::vector<int64_t>{10'000, 3, 64, 64}));
  EXPECT_FALSE(set.has_labels());
  EXPECT_EQ(hash_of(set.inputs[0]), 0xec4258c6050a66f3);
  EXPECT_EQ(hash_of(set.inputs[10]), 0xb1b11eb3426dbc3c);
  EXPECT_EQ(hash_of(set.inputs[9999]), 0x84aef392624c42b0);
}

}  // namespace
}  // namespace priornet
