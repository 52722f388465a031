#include <gtest/gtest.h>
#include <priornet/learning/catalogue.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include "learning/base/names.h"

#include <set>

namespace priornet {
namespace {

TEST(Catalogue, HoldsTheSetsOfThePaperAndFiveMore) {
  std::vector<std::string> names;
  for (const auto& entry : catalogue()) names.push_back(entry.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"mnist", "fashion-mnist", "kmnist", "emnist", "cifar10", "cifar100", "svhn",
                                      "omniglot", "semeion", "tinyimagenet", "lsun", "cifar10h", "openood"}));
}

TEST(Catalogue, SplitsMnistAsThePaperDoes) {
  const auto& mnist = entry_named("mnist");
  EXPECT_EQ(split_named(mnist, "train").count, 55'000);
  EXPECT_EQ(split_named(mnist, "validation").count, 5'000);
  EXPECT_EQ(split_named(mnist, "test").count, 10'000);
  EXPECT_EQ(split_named(mnist, "valid+test").count, 15'000);
  EXPECT_EQ(split_named(mnist, "").name, "train");
}

TEST(Catalogue, SplitsAreRowsOfParts) {
  for (const auto& entry : catalogue())
    for (const auto& split : entry.splits) {
      int64_t count = 0;
      for (const auto& rows : split.rows) {
        const auto& part = part_named(entry, rows.part);
        EXPECT_LE(rows.first + rows.count, part.count) << entry.name << ":" << split.name;
        count += rows.count;
      }
      EXPECT_EQ(count, split.count) << entry.name << ":" << split.name;
      EXPECT_FALSE(split.from.empty());
    }
}

TEST(Catalogue, PartsCanBeReadAndHaveClassNamesOnce) {
  for (const auto& entry : catalogue())
    for (const auto& part : entry.parts) {
      EXPECT_NE(bool(part.read), bool(part.choose)) << entry.name << "-" << part.name;
      EXPECT_EQ(part.chosen_from.empty(), !part.choose) << entry.name << "-" << part.name;
      const std::set<std::string> different(part.class_names.begin(), part.class_names.end());
      EXPECT_EQ(different.size(), part.class_names.size()) << entry.name << "-" << part.name;
    }
  EXPECT_EQ(part_named(entry_named("cifar100"), "train").class_names.size(), 100u);
  EXPECT_EQ(part_named(entry_named("emnist"), "balanced-test").class_names.size(), 47u);
}

TEST(Catalogue, KnowsWhereEverySetComesFromAndItsTerms) {
  const auto is_hexadecimal = [](const std::string& text, size_t size) {
    return text.empty() || (text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string::npos);
  };
  for (const auto& entry : catalogue()) {
    EXPECT_FALSE(entry.terms.empty()) << entry.name;
    EXPECT_TRUE(entry.homepage.starts_with("http")) << entry.name;
    EXPECT_FALSE(entry.locations.empty()) << entry.name;
    bool has_source = false;
    for (const auto& file : entry.files) {
      EXPECT_TRUE(is_hexadecimal(file.sha256, 64)) << file.path;
      EXPECT_TRUE(is_hexadecimal(file.md5, 32)) << file.path;
      // The catalogue names a file without a source only for its checksum.
      EXPECT_TRUE(!file.urls.empty() || !file.sha256.empty()) << file.path;
      has_source |= !file.urls.empty();
    }
    EXPECT_TRUE(has_source) << entry.name;
  }
}

TEST(Catalogue, SuggestsTheNearestName) {
  EXPECT_THROWS(
      DataError, entry_named("mnsit"),
      "there is no data set named mnsit; did you mean mnist? (there are mnist, fashion-mnist, kmnist, emnist, "
      "cifar10, cifar100, svhn, omniglot, semeion, tinyimagenet, lsun, cifar10h, openood; a path is written with a / "
      "or a .)");
  EXPECT_THROWS(DataError, split_named(entry_named("cifar10"), "validation"),
                "cifar10 has no split named validation (it has train, test)");
  EXPECT_TRUE(in_catalogue("svhn"));
  EXPECT_FALSE(in_catalogue("SVHN"));
}

TEST(NearestName, IsCloseOrNothing) {
  const std::vector<std::string> names = {"cifar10", "cifar100", "fashion-mnist"};
  EXPECT_EQ(nearest_name("CIFAR_10", names), "cifar10");
  EXPECT_EQ(nearest_name("CIFAR-100", names), "cifar100");
  EXPECT_EQ(nearest_name("fashionmnist", names), "fashion-mnist");
  EXPECT_EQ(nearest_name("imagenet", names), "");
  EXPECT_EQ(nearest_name("", names), "");
}

}  // namespace
}  // namespace priornet
