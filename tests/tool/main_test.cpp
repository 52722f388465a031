#include <testing/tool.h>

namespace priornet {
namespace {

TEST(Tool, ListsItsSubcommands) {
  const auto [status, out, err] = run_tool({"--help"});
  EXPECT_EQ(status, 0);
  EXPECT_EQ(err, "");
  for (const auto* command : {"measure", "detect", "reproduce", "calibrate", "predict", "export", "serve"})
    EXPECT_NE(out.find(command), std::string::npos) << command;
}

TEST(Tool, SaysItsVersion) {
  const auto [status, out, err] = run_tool({"--version"});
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(out.starts_with("priornet ")) << out;
}

TEST(Tool, GivesEverySubcommandADescriptionAndAnExample) {
  for (const auto* command : {"measure", "detect", "reproduce", "calibrate", "predict", "export", "serve"}) {
    const auto [status, out, err] = run_tool({command, "--help"});
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(out.starts_with("Usage")) << "no description:\n" << out;
    EXPECT_NE(out.find("Example"), std::string::npos) << out;
    EXPECT_NE(out.find(std::string("  priornet ") + command + " "), std::string::npos) << out;
  }
}

TEST(Tool, ExitsWithTwoWhenMisused) {
  const auto misused = [](const std::vector<std::string>& arguments, const std::string& message) {
    const auto [status, out, err] = run_tool(arguments);
    EXPECT_EQ(status, 2);
    EXPECT_EQ(out, "");
    EXPECT_EQ(err, message);
  };
  misused({}, "priornet: A subcommand is required (see priornet --help)\n");
  misused({"detekt"}, "priornet: there is no subcommand detekt (see priornet --help)\n");
  misused({"measure"}, "priornet: LOGITS is required (see priornet measure --help)\n");
  misused({"measure", "a.npy", "--kind", "other"},
          "priornet: --kind: other not in {dirichlet,softmax,ensemble} (see priornet measure --help)\n");
  misused({"measure", "a.npy", "--colour"},
          "priornet: The following argument was not expected: --colour (see priornet measure --help)\n");
  misused({"detect", "--positive", "a.npy"}, "priornet: --negative is required (see priornet detect --help)\n");
}

}  // namespace
}  // namespace priornet
