#include <priornet/experiments/mnist.h>
#include <testing/real_data.h>
#include <testing/temporary_folder.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace priornet {
namespace {

// Profile quick on the published files: what the experiment must show, in minutes.
TEST(Mnist, ShowsThePapersEffectsQuickly) {
  REAL_DATA(mnist, "mnist");
  REAL_DATA(fashion, "fashion-mnist");
  const TemporaryFolder folder;
  // Prepared copies are written beside the links, not beside the published files.
  std::filesystem::create_directory(folder / "data");
  for (const auto& set : {mnist, fashion})
    std::filesystem::create_directory_symlink(set, (folder / "data") / set.filename());
  ::setenv("PRIORNET_DATA", (folder / "data").c_str(), 1);
  ExperimentOptions options;
  options.profile = Profile::kQuick;
  options.out = folder / "out";
  NoProgress progress;
  reproduce_mnist(options, progress);
  const auto results = nlohmann::json::parse(bytes_of(folder / "out" / "results.json"));
  const auto cell = [&](const char* set, const char* model, const char* metric, const char* measure) {
    for (const auto& row : results["cells"])
      if (row["out of distribution"] == set && row["model"] == model && row["metric"] == metric &&
          row["measure"] == measure)
        return row["ours"].get<double>();
    ADD_FAILURE() << "no cell " << set << ", " << model << ", " << metric << ", " << measure;
    return 0.0;
  };
  EXPECT_LT(cell("misclassification", "DNN", "error", ""), 2.0);
  EXPECT_GE(cell("Fashion-MNIST", "DPN", "AUROC", "D.Ent."), 99.0);
}

}  // namespace
}  // namespace priornet
