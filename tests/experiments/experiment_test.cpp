#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include "tool/experiments/experiment.h"

namespace priornet {
namespace {

TEST(Experiments, AreFoundByName) {
  for (const auto& experiment : experiments()) EXPECT_EQ(&experiment_named(experiment.name), &experiment);
}

TEST(Experiments, ListTheKnownNames) {
  EXPECT_THROWS(ConfigError, experiment_named("syntetic"),
                "unknown experiment 'syntetic'; known: synthetic, mnist, mnist-noise, svhn, cifar10, openood, "
                "reasons, relatives");
}

TEST(OutputFolder, IsMadeAndHoldsWhatIsWritten) {
  const TemporaryFolder folder;
  OutputFolder out(folder / "a" / "b");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "a" / "b"));
  out.write("x.txt", "text");
  EXPECT_EQ(bytes_of(folder / "a" / "b" / "x.txt"), "text");
  EXPECT_EQ(out.files(), std::vector{folder / "a" / "b" / "x.txt"});
}

TEST(OutputFolder, RefusesAFileInItsPlace) {
  const TemporaryFolder folder;
  const auto file = folder.file("taken", "");
  EXPECT_THROW(OutputFolder{file}, DataError);
  EXPECT_THROW(OutputFolder{file / "below"}, DataError);
}

}  // namespace
}  // namespace priornet
