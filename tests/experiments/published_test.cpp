#include <priornet/experiments/published.h>

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

// 3 errors; 9 cells a metric in each of the five tables of three models (DNN 2, MCDP 3, DPN 4), twice; and of the table
// on noise 1 + 2 + 3 at each of two sigmas.
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

// Every AUROC and AUPR is a percentage.
TEST(PublishedMnist, StaysWithinPercentages) {
  for (const auto& row : published_mnist())
    for (const auto& cells : {row.auroc, row.aupr})
      for (const double cell : cells) EXPECT_TRUE(std::isnan(cell) || (cell > 20 && cell <= 100)) << row.outside;
}

}  // namespace
}  // namespace priornet
