#include <priornet/uncertainty/random.h>
#include "uncertainty/core/random_stream.h"

#include <set>

namespace priornet {
namespace {

TEST(Generator, RepeatsItselfForOneSeedOnly) {
  const auto draw = [](uint64_t seed) { return torch::rand({64}, make_generator(seed)); };
  EXPECT_TRUE(draw(7).equal(draw(7)));
  EXPECT_FALSE(draw(7).equal(draw(8)));
}

TEST(DeriveSeed, GivesEachPurposeAndEachSeedAStreamOfItsOwn) {
  EXPECT_EQ(derive_seed(1, "train"), derive_seed(1, "train"));
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 100; ++seed)
    for (const auto* purpose : {"", "a", "b", "ab", "ba", "train", "test"}) seen.insert(derive_seed(seed, purpose));
  EXPECT_EQ(seen.size(), 700u);
}

TEST(SeedMix, DerivesPieceByPiece) {
  for (const int64_t number : {0, 7, 10, 1234567890})
    EXPECT_EQ(SeedMix(5).add("step ").add_number(number).seed(), derive_seed(5, "step " + std::to_string(number)));
}

}  // namespace
}  // namespace priornet
