#include <testing/tool.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

// The digit model made again from MNIST (tools/make-digits): it does as well as the one in the repository, and keeps
// its promise on the test set, which neither learnt from. Minutes.

namespace priornet {
namespace {

TEST(DigitsReal, IsMadeAgainByItsScript) {
  const char* root = std::getenv("PRIORNET_TEST_DATA");
  if (root == nullptr) GTEST_SKIP() << "PRIORNET_TEST_DATA is not set";
  const InputFiles files;
  const auto source = std::filesystem::path(PRIORNET_SOURCE);
  const auto made =
      run_process({"/usr/bin/env", std::string("PRIORNET_DATA=") + root, (source / "tools/make-digits").string(),
                   PRIORNET_TOOL_PATH, (files / "made").string()});
  ASSERT_EQ(made.status, 0) << made.err;
  std::filesystem::copy_file(source / "models" / "digits.priornet", files / "kept.priornet");
  const auto evaluated = [&](const char* model) {
    const auto said = run_process({"/usr/bin/env", std::string("PRIORNET_DATA=") + root, PRIORNET_TOOL_PATH, "evaluate",
                                   (files / model).string(), "--data", "mnist:test", "--json"});
    EXPECT_EQ(said.status, 0) << said.err;
    return nlohmann::json::parse(said.out)["summary"]["test"];
  };
  const auto kept = evaluated("kept.priornet");
  const auto again = evaluated("made/digits.priornet");
  const auto error = [](const nlohmann::json& summary) { return summary["error"]["value"].get<double>(); };
  EXPECT_LT(error(kept), 0.02);
  EXPECT_NEAR(error(again), error(kept), 0.005);
  for (const auto& summary : {kept, again}) {
    EXPECT_LT(summary["handed_back"]["value"].get<double>(), 0.06);
  }
  for (const char* name : {"three", "seven", "four-or-nine", "letter", "shirt"}) {
    const auto sample = std::string("samples/") + name + ".png";
    const auto same =
        run_process({"/usr/bin/cmp", (files / ("made/" + sample)).string(), (source / "models" / sample).string()});
    EXPECT_EQ(same.status, 0) << same.out;
  }
}

}  // namespace
}  // namespace priornet
