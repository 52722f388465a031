#include <testing/tool.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

// docs/deploy.md on Fashion-MNIST as folders of PNGs, with MNIST's digits as what is unfamiliar: minutes.

namespace priornet {
namespace {

TEST(DeployReal, RejectsDigitsAsUnfamiliarClothes) {
  const InputFiles files;
  const char* root = std::getenv("PRIORNET_TEST_DATA");
  if (root == nullptr) GTEST_SKIP() << "PRIORNET_TEST_DATA is not set";
  const auto at = [&](const char* name) { return (files / name).string(); };
  const auto exported = [&](const char* set, const char* folder) {
    return run_tool({"data", "export", set, at(folder), "--root", root}).status;
  };
  ASSERT_EQ(exported("fashion-mnist:train", "clothes"), 0);
  ASSERT_EQ(exported("fashion-mnist:test", "clothes-test"), 0);
  ASSERT_EQ(exported("mnist:test", "digits"), 0);
  const auto trained = run_tool({"train", "--data", at("clothes"), "--out", at("run"), "--set", "training.epochs=2"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto share = [&](const char* set, const char* verdict) {
    const auto said = run_tool({"calibrate", at("run"), "--out", at("m.priornet"), "--check", at(set), "--json"});
    EXPECT_EQ(said.status, 0) << said.err;
    const auto report = nlohmann::json::parse(said.out)["sets"][1];
    return report[verdict].get<double>() / report["size"].get<double>();
  };
  EXPECT_GE(share("digits", "unfamiliar"), 0.95);
  // C is about 2,750: the share of one calibration set scatters by 0.0042 around the rate.
  EXPECT_LE(share("clothes-test", "rejected"), 0.05 + 3 * 0.0042);
}

}  // namespace
}  // namespace priornet
