#include <priornet/learning/inference.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>
#include <testing/trained_small_run.h>
#include "learning/base/file_io.h"

namespace priornet {
namespace {

void write_text(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

TEST(TrainedRun, GivesWhatTheTrainedNetworkGave) {
  const TemporaryFolder folder;
  NoProgress progress;
  const auto network = train(small_run_config(), {small_images(320, 1), small_images(90, 2), {}},
                             RunFolder(folder / "run", RunFolder::Start::kNew), {}, progress);
  const auto run = load_run(folder / "run", torch::kCPU);
  ASSERT_EQ(run.members.size(), 1u);
  const auto inputs = small_images(20, 3).inputs;
  EXPECT_TRUE(infer(*run.members[0], inputs).equal(infer(*network, inputs)));
  EXPECT_EQ(run.class_names, (std::vector<std::string>{"left", "middle", "right"}));
  EXPECT_EQ(run.config.method.settings.at("alpha0"), 100);
  EXPECT_TRUE(run.gives_dirichlet());
  EXPECT_TRUE(run.identity.starts_with("step 30 ")) << run.identity;
}

TEST(TrainedRun, HasAnIdentityThatChangesWithTheWeights) {
  const TemporaryFolder folder;
  auto config = small_run_config();
  config.epochs = 1;
  train_small_run(folder / "a", config);
  train_small_run(folder / "b", config);
  config.seed = 2;
  train_small_run(folder / "c", config);
  const auto identity = [&](const char* name) { return load_run(folder / name, torch::kCPU).identity; };
  EXPECT_EQ(identity("a"), identity("b"));
  EXPECT_NE(identity("a"), identity("c"));
}

TEST(TrainedRun, TakesTheLastWeightsUnlessTheBestAreAskedFor) {
  const TemporaryFolder folder;
  train_small_run(folder / "run");
  const RunFolder run(folder / "run", RunFolder::Start::kResume);
  std::filesystem::copy_file(run.checkpoint(20), run.best(), std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(load_run(run.path(), torch::kCPU).identity.starts_with("step 30 "));
  EXPECT_TRUE(load_run(run.path(), {torch::kCPU, WhichCheckpoint::kBest}).identity.starts_with("step 20 "));
}

TEST(TrainedRun, IsAnEnsembleOfItsMembers) {
  const TemporaryFolder folder;
  auto config = small_run_config();
  config.epochs = 1;
  for (const int64_t member : {1, 2}) {
    config.seed = member;
    train_small_run(folder / ("run/member-" + std::to_string(member)), config);
  }
  config.members = 2;
  write_text(folder / "run/config.toml", to_toml(config));
  const auto run = load_run(folder / "run", torch::kCPU);
  ASSERT_EQ(run.members.size(), 2u);
  EXPECT_FALSE(run.members[0]->parameters()[0].equal(run.members[1]->parameters()[0]));
  std::filesystem::remove_all(folder / "run/member-2");
  EXPECT_THROWS(
      DataError, load_run(folder / "run", torch::kCPU),
      ((folder / "run/member-2").string() + ": there is no such folder; it should be the folder of a run").c_str());
}

TEST(TrainedRun, RefusesAnEnsembleWhoseMembersDiffer) {
  const TemporaryFolder folder;
  auto config = small_run_config();
  config.epochs = 1;
  train_small_run(folder / "run/member-1", config);
  config.method.name = "dnn";
  train_small_run(folder / "run/member-2", config);
  config.method.name = "dpn";
  config.members = 2;
  write_text(folder / "run/config.toml", to_toml(config));
  EXPECT_THROWS(
      DataError, load_run(folder / "run", torch::kCPU),
      ((folder / "run/member-2").string() + ": differs from member-1 in its classes, inputs or method").c_str());
}

TEST(TrainedRun, RefusesFoldersThatHoldNone) {
  const TemporaryFolder folder;
  const auto path = (folder / "run").string();
  EXPECT_THROWS(DataError, load_run(path, torch::kCPU),
                (path + ": there is no such folder; it should be the folder of a run").c_str());
  std::filesystem::create_directory(path);
  EXPECT_THROWS(DataError, load_run(path, torch::kCPU),
                (path + ": holds no run: there is no config.toml in it").c_str());
  write_text(path + "/config.toml", to_toml(small_run_config()));
  EXPECT_THROWS(DataError, load_run(path, torch::kCPU),
                (path + ": holds no checkpoint: is it the folder of a run?").c_str());
}

TEST(TrainedRun, RefusesADamagedCheckpoint) {
  const TemporaryFolder folder;
  auto config = small_run_config();
  config.epochs = 1;
  train_small_run(folder / "run", config);
  const auto path = RunFolder(folder / "run", RunFolder::Start::kResume).checkpoint(10);
  auto bytes = bytes_of(path);
  bytes[bytes.size() - 5] ^= 1;
  write_text(path, bytes);
  EXPECT_THROW(load_run(folder / "run", torch::kCPU), DataError);
}

}  // namespace
}  // namespace priornet
