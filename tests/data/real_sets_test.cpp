#include <testing/real_data.h>

#include "learning/sets/families.h"
#include "learning/sets/path_set.h"

// The published files, compared with published values.

namespace priornet {
namespace {

const IdxSet kTrain{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", numbered_classes(10)};
const IdxSet kTest{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", numbered_classes(10)};

TEST(RealSets, Mnist) {
  REAL_DATA(root, "mnist");
  const auto train = read_idx_set(root, kTrain);
  EXPECT_EQ(train.inputs.sizes().vec(), std::vector<int64_t>({60000, 1, 28, 28}));
  expect_moments(train, {0.1307}, {0.3081}, 6e-5);
  expect_class_counts(train, {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949});
  const auto test = read_idx_set(root, kTest);
  EXPECT_EQ(test.size(), 10000);
  expect_class_counts(test, {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
}

TEST(RealSets, FashionMnist) {
  REAL_DATA(root, "fashion-mnist");
  const auto train = read_idx_set(root, kTrain);
  EXPECT_EQ(train.inputs.sizes().vec(), std::vector<int64_t>({60000, 1, 28, 28}));
  expect_moments(train, {0.2860}, {0.3530}, 6e-5);
  expect_class_counts(train, std::vector<int64_t>(10, 6000));
  expect_class_counts(read_idx_set(root, kTest), std::vector<int64_t>(10, 1000));
}

TEST(RealSets, Cifar10) {
  REAL_DATA(root, "cifar-10-batches-bin");
  CifarSet set{{}, 1, numbered_classes(10)};
  for (int batch = 1; batch <= 5; ++batch) set.files.push_back("data_batch_" + std::to_string(batch) + ".bin");
  const auto train = read_cifar(root, set);
  EXPECT_EQ(train.inputs.sizes().vec(), std::vector<int64_t>({50000, 3, 32, 32}));
  expect_moments(train, {0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}, 6e-5);
  expect_class_counts(train, std::vector<int64_t>(10, 5000));
  expect_class_counts(read_cifar(root, {{"test_batch.bin"}, 1, numbered_classes(10)}), std::vector<int64_t>(10, 1000));
}

TEST(RealSets, Cifar100) {
  REAL_DATA(root, "cifar-100-binary");
  const auto train = read_cifar(root, {{"train.bin"}, 2, numbered_classes(100)});
  EXPECT_EQ(train.inputs.sizes().vec(), std::vector<int64_t>({50000, 3, 32, 32}));
  expect_moments(train, {0.5071, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2762}, 6e-5);
  expect_class_counts(train, std::vector<int64_t>(100, 500));
  expect_class_counts(read_cifar(root, {{"test.bin"}, 2, numbered_classes(100)}), std::vector<int64_t>(100, 100));
}

TEST(RealSets, Svhn) {
  REAL_DATA(root, "svhn");
  const auto train = read_svhn(root / "train_32x32.mat");
  EXPECT_EQ(train.inputs.sizes().vec(), std::vector<int64_t>({73257, 3, 32, 32}));
  expect_moments(train, {0.4377, 0.4438, 0.4728}, {0.1980, 0.2010, 0.1970}, 1e-4);
  expect_class_counts(train, {4948, 13861, 10585, 8497, 7458, 6882, 5727, 5595, 5045, 4659});
  const auto test = read_svhn(root / "test_32x32.mat");
  EXPECT_EQ(test.size(), 26032);
  expect_class_counts(test, {1744, 5099, 4149, 2882, 2523, 2384, 1977, 2019, 1660, 1595});
}

TEST(RealSets, Semeion) {
  REAL_DATA(root, "semeion");
  const auto set = read_semeion(root);
  EXPECT_EQ(set.inputs.sizes().vec(), std::vector<int64_t>({1593, 1, 16, 16}));
  expect_class_counts(set, {161, 162, 159, 159, 161, 159, 161, 158, 155, 158});
}

}  // namespace
}  // namespace priornet
