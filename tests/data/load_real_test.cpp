#include <gtest/gtest.h>
#include <priornet/learning/catalogue.h>
#include <priornet/learning/load_set.h>
#include <testing/temporary_folder.h>

#include <cstdlib>

// Every set of the catalogue that is below PRIORNET_TEST_DATA, by name.

namespace priornet {
namespace {

TEST(LoadRealSets, EverySplitThatIsThereHasItsCount) {
  const char* data = std::getenv("PRIORNET_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "PRIORNET_TEST_DATA names no folder of data sets";
  LoadOptions options{data, false, nullptr};
  int loaded = 0;
  for (const auto& entry : catalogue())
    for (const auto& split : entry.splits) {
      const bool there = std::all_of(split.rows.begin(), split.rows.end(), [&](const PartRows& rows) {
        return find_location(entry, part_named(entry, rows.part), options.root).has_value();
      });
      if (!there) continue;
      const auto name = entry.name + ":" + split.name;
      const auto set = load_set(name, options);
      EXPECT_EQ(set.size(), split.count) << name;
      EXPECT_EQ(set.name, name);
      EXPECT_NO_THROW(check_dataset(set));
      ++loaded;
    }
  EXPECT_GT(loaded, 0) << "nothing below " << data;
}

}  // namespace
}  // namespace priornet
