#include <priornet/experiments/cifar10.h>
#include <testing/real_data.h>
#include <testing/temporary_folder.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

// Profile quick on the published files: what the experiment must show, in minutes.
TEST(Cifar10, ShowsThePapersEffectQuickly) {
  REAL_DATA(cifar10, "cifar-10-batches-bin");
  REAL_DATA(cifar100, "cifar-100-binary");
  const TemporaryFolder folder;
  // Prepared copies are written beside the links, not beside the published files.
  std::filesystem::create_directory(folder / "data");
  for (const auto& set : {cifar10, cifar100})
    std::filesystem::create_directory_symlink(set, (folder / "data") / set.filename());
  ::setenv("PRIORNET_DATA", (folder / "data").c_str(), 1);
  ExperimentOptions options;
  options.profile = Profile::kQuick;
  options.out = folder / "out";
  NoProgress progress;
  reproduce_cifar10(options, progress);
  const auto results = nlohmann::json::parse(bytes_of(folder / "out" / "results.json"));
  const auto auroc = [&](const char* model, const char* measure) {
    for (const auto& row : results["cells"])
      if (row["out of distribution"] == "CIFAR-100" && row["model"] == model && row["metric"] == "AUROC" &&
          row["measure"] == measure)
        return row["ours"].get<double>();
    ADD_FAILURE() << "no cell " << model << ", " << measure;
    return 0.0;
  };
  EXPECT_GT(auroc("DPN", "D.Ent."), auroc("DNN", "Ent.") + 3.0);
}

}  // namespace
}  // namespace priornet
