#include <testing/tool.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

// docs/deploy.md on Fashion-MNIST as folders of PNGs, with MNIST's digits, OMNIGLOT and SEMEION as what is unfamiliar:
// minutes.

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
  const auto trained = run_tool({"train", "--data", at("clothes"), "--out", at("run")});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto judged = [&](const char* set) {
    const auto said = run_tool({"calibrate", at("run"), "--out", at("m.priornet"), "--check", at(set), "--json"});
    EXPECT_EQ(said.status, 0) << said.err;
    return nlohmann::json::parse(said.out);
  };
  const auto share = [](const nlohmann::json& report, const char* verdict) {
    const auto& set = report["sets"][1];
    return set[verdict].get<double>() / set["size"].get<double>();
  };
  EXPECT_GE(share(judged("digits"), "unfamiliar"), 0.95);
  const auto clothes = judged("clothes-test");
  EXPECT_LE(share(clothes, "rejected"), clothes["false_alarm_range"][1].get<double>());
  EXPECT_LE(clothes["sets"][1]["error"].get<double>(), 0.10);
  // None of these was looked at while the defaults were chosen.
  for (const auto& [set, folder] :
       {std::pair{"omniglot:evaluation,invert,size=28", "characters"},
        std::pair{"omniglot:evaluation,size=28", "black-on-white"}, std::pair{"semeion,size=28", "semeion"}})
    if (exported(set, folder) == 0) {
      EXPECT_GE(share(judged(folder), "unfamiliar"), 0.95) << set;
    }
}

}  // namespace
}  // namespace priornet
