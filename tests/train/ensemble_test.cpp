#include <priornet/learning/training.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_runs.h>
#include <testing/throws.h>

#include <fstream>

namespace priornet {
namespace {

namespace fs = std::filesystem;

TrainConfig of_members(int64_t members) {
  auto config = small_config();
  config.epochs = 1;
  config.members = members;
  return config;
}

TEST(Ensemble, LeavesARunAMemberEachFromASeedOfItsOwn) {
  const TemporaryFolder folder;
  NoProgress progress;
  std::vector<int64_t> begun;
  EnsembleOptions options;
  options.on_member = [&](int64_t member) { begun.push_back(member); };
  train_run(of_members(3), small_sets(), folder / "run", options, progress);
  EXPECT_EQ(begun, (std::vector<int64_t>{1, 2, 3}));
  const auto bytes = [&](int64_t member) {
    return bytes_of(RunFolder(member_folder(folder / "run", member), RunFolder::Start::kResume).checkpoint(10));
  };
  EXPECT_NE(bytes(1), bytes(2));
  EXPECT_NE(bytes(2), bytes(3));
  EXPECT_EQ(read_config(folder / "run" / "config.toml").members, 3);
  EXPECT_EQ(read_config(folder / "run" / "member-2" / "config.toml").members, 1);
}

TEST(Ensemble, IsResumedMemberByMember) {
  const TemporaryFolder folder;
  NoProgress progress;
  train_run(of_members(2), small_sets(), folder / "whole", {}, progress);
  EnsembleOptions options;
  int64_t steps = 0;
  options.trainer.stop = [&] { return ++steps == 14; };
  EXPECT_THROW(train_run(of_members(2), small_sets(), folder / "run", options, progress), TrainingStopped);
  options.trainer.stop = {};
  options.trainer.resume = true;
  options.start = RunFolder::Start::kResume;
  train_run(of_members(2), small_sets(), folder / "run", options, progress);
  for (const auto* member : {"member-1", "member-2"}) {
    const auto checkpoint = fs::path(member) / "checkpoints" / "step-00000010.safetensors";
    EXPECT_EQ(bytes_of(folder / "run" / checkpoint), bytes_of(folder / "whole" / checkpoint)) << member;
  }
}

TEST(Ensemble, IsRemovedWholeByForceButNothingElseIs) {
  const TemporaryFolder folder;
  NoProgress progress;
  train_run(of_members(2), small_sets(), folder / "run", {}, progress);
  std::ofstream(folder / "run" / "notes.txt") << "mine";
  std::ofstream(folder / "run" / "member-notes.csv") << "mine";
  fs::create_directory(folder / "run" / "evaluation");
  RunFolder(folder / "run", RunFolder::Start::kForce).begin();
  EXPECT_FALSE(fs::exists(folder / "run" / "member-1"));
  EXPECT_FALSE(fs::exists(folder / "run" / "config.toml"));
  EXPECT_FALSE(fs::exists(folder / "run" / "evaluation"));
  EXPECT_TRUE(fs::exists(folder / "run" / "notes.txt"));
  EXPECT_TRUE(fs::exists(folder / "run" / "member-notes.csv"));
}

TEST(Ensemble, ReplacesAnotherOne) {
  const TemporaryFolder folder;
  NoProgress progress;
  EnsembleOptions options;
  train_run(of_members(3), small_sets(), folder / "run", options, progress);
  options.start = RunFolder::Start::kForce;
  auto other = of_members(2);
  other.schedule.rate = 1e-4;
  train_run(other, small_sets(), folder / "run", options, progress);
  train_run(other, small_sets(), folder / "alone", {}, progress);
  for (const auto* part : {"config.toml", "member-1/checkpoints/step-00000010.safetensors",
                           "member-2/checkpoints/step-00000010.safetensors"})
    EXPECT_EQ(bytes_of(folder / "run" / part), bytes_of(folder / "alone" / part)) << part;
  EXPECT_FALSE(fs::exists(folder / "run" / "member-3"));
}

TEST(Ensemble, OfAnotherConfigurationIsLeftAsItIs) {
  const TemporaryFolder folder;
  NoProgress progress;
  train_run(of_members(2), small_sets(), folder / "run", {}, progress);
  const auto before = bytes_of(folder / "run" / "config.toml");
  auto other = of_members(2);
  other.schedule.rate = 1e-4;
  EnsembleOptions options;
  options.start = RunFolder::Start::kResume;
  options.trainer.resume = true;
  EXPECT_THROW(train_run(other, small_sets(), folder / "run", options, progress), DataError);
  EXPECT_EQ(bytes_of(folder / "run" / "config.toml"), before);
}

}  // namespace
}  // namespace priornet
