#include "tool/experiments/published.h"

#include <gtest/gtest.h>

#include <cmath>

namespace priornet {
namespace {

int cells_of(const PublishedRow& row) {
  int count = std::isnan(row.error) ? 0 : 1;
  for (const auto& cells : {row.auroc, row.aupr})
    for (const double cell : cells) count += !std::isnan(cell);
  return count;
}

// 3 errors; two metrics with 9 cells each in five tables of three models (DNN 2, MCDP 3, DPN 4); and 1 + 2 + 3 cells of
// the table on noise at each of two sigmas.
TEST(PublishedMnist, HoldsEveryCell) {
  int count = 0;
  for (const auto& row : published_mnist()) count += cells_of(row);
  EXPECT_EQ(published_mnist().size(), 21u);
  EXPECT_EQ(count, 3 + 5 * 2 * 9 + 2 * 6);
}

TEST(PublishedMnist, IsAsPrinted) {
  const auto rows = published_mnist();
  EXPECT_EQ(find_published(rows, {"", "DPN"})->aupr[0], 43.6);
  EXPECT_EQ(find_published(rows, {"", "MCDP"})->error, 0.4);
  EXPECT_EQ(find_published(rows, {"OMNIGLOT", "DPN"})->aupr[2], 97.5);
  EXPECT_EQ(find_published(rows, {"SEMEION", "DPN"})->auroc[3], 99.7);
  EXPECT_EQ(find_published(rows, {"SVHN", "MCDP"})->auroc[2], 98.1);
  EXPECT_EQ(find_published(rows, {"CIFAR-10", "DNN"})->aupr[1], 99.4);
  EXPECT_EQ(find_published(rows, {"OMNIGLOT", "DPN", 3, true})->auroc[2], 22.3);
}

// The paper gives the entropy of MCDP twice, and not the same.
TEST(PublishedMnist, KeepsTheTableOnNoiseApart) {
  const auto rows = published_mnist();
  EXPECT_EQ(find_published(rows, {"OMNIGLOT", "MCDP", 0, false})->auroc[1], 99.2);
  EXPECT_EQ(find_published(rows, {"OMNIGLOT", "MCDP", 0, true})->auroc[1], 98.8);
}

TEST(PublishedMnist, SaysWhatThePaperHasNot) {
  const auto rows = published_mnist();
  EXPECT_TRUE(std::isnan(find_published(rows, {"SVHN", "DNN"})->auroc[3]));
  EXPECT_EQ(find_published(rows, {"Fashion-MNIST", "DPN"}), nullptr);
  EXPECT_EQ(find_published(rows, {"SVHN", "DPN", 3}), nullptr);
}

// 3 errors, and 9 cells per metric (DNN 2, MCDP 3, DPN 4) for misclassification and for each of four sets.
TEST(PublishedColour, HoldsEveryCell) {
  for (const auto rows : {published_svhn(), published_cifar10()}) {
    int count = 0;
    for (const auto& row : rows) count += cells_of(row);
    EXPECT_EQ(rows.size(), 15u);
    EXPECT_EQ(count, 3 + 5 * 2 * 9);
  }
}

TEST(PublishedColour, IsAsPrinted) {
  const auto svhn = published_svhn();
  EXPECT_EQ(find_published(svhn, {"", "DNN"})->error, 4.3);
  EXPECT_EQ(find_published(svhn, {"", "DPN"})->aupr[3], 46.0);
  EXPECT_EQ(find_published(svhn, {"CIFAR-10", "MCDP"})->aupr[2], 95.8);
  EXPECT_EQ(find_published(svhn, {"CIFAR-100", "DPN"})->auroc[3], 99.8);
  EXPECT_EQ(find_published(svhn, {"LSUN", "DNN"})->auroc[0], 91.9);
  EXPECT_EQ(find_published(svhn, {"TinyImageNet", "MCDP"})->auroc[1], 96.7);
  const auto cifar10 = published_cifar10();
  EXPECT_EQ(find_published(cifar10, {"", "DPN"})->error, 8.5);
  EXPECT_EQ(find_published(cifar10, {"", "DPN"})->aupr[0], 52.7);
  EXPECT_EQ(find_published(cifar10, {"CIFAR-100", "DPN"})->auroc[3], 95.8);
  EXPECT_EQ(find_published(cifar10, {"SVHN", "MCDP"})->aupr[2], 73.1);
  EXPECT_EQ(find_published(cifar10, {"LSUN", "DPN"})->aupr[3], 93.3);
  EXPECT_EQ(find_published(cifar10, {"TinyImageNet", "DNN"})->aupr[1], 87.2);
}

// What the notes to the tables say: the paper's mutual information of the DPN is its entropy, to a tenth.
TEST(PublishedColour, HasEntropyForMutualInformation) {
  for (const auto rows : {published_svhn(), published_cifar10()})
    for (const auto& row : rows) {
      if (row.model != "DPN") continue;
      EXPECT_NEAR(row.auroc[1], row.auroc[2], 0.101) << row.inside << " against " << row.outside;
      EXPECT_NEAR(row.aupr[1], row.aupr[2], 0.101) << row.inside << " against " << row.outside;
    }
}

// Every AUROC and AUPR is a percentage.
TEST(Published, StaysWithinPercentages) {
  for (const auto rows : {published_mnist(), published_svhn(), published_cifar10()})
    for (const auto& row : rows)
      for (const auto& cells : {row.auroc, row.aupr})
        for (const double cell : cells) EXPECT_TRUE(std::isnan(cell) || (cell > 20 && cell <= 100)) << row.outside;
}

}  // namespace
}  // namespace priornet
