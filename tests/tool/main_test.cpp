#include <testing/tool.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tool/commands/command.h"
#include "tool/commands/terminal.h"

namespace priornet {
namespace {

nlohmann::json listing() {
  const auto [status, out, err] = run_tool({"--help-json"});
  EXPECT_EQ(status, 0) << err;
  return nlohmann::json::parse(out);
}

TEST(Tool, ListsItsSubcommands) {
  const auto [status, out, err] = run_tool({"--help"});
  EXPECT_EQ(status, 0);
  EXPECT_EQ(err, "");
  const auto subcommands = listing()["subcommands"];
  ASSERT_GE(subcommands.size(), 12u);
  for (const auto& command : subcommands)
    EXPECT_NE(out.find("\n  " + command["name"].get<std::string>() + " "), std::string::npos) << command["name"];
}

TEST(Tool, SaysItsVersion) {
  const auto [status, out, err] = run_tool({"--version"});
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(out.starts_with("priornet ")) << out;
}

// Of every command below this one, nested ones too.
void expect_help(const nlohmann::json& command, std::vector<std::string> words) {
  auto arguments = words;
  arguments.push_back("--help");
  const auto [status, out, err] = run_tool(arguments);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(words.empty() || out.starts_with(command["summary"].get<std::string>() + "\n")) << out;
  std::string name = "priornet";
  for (const auto& word : words) name += " " + word;
  const auto has_example = [&](const char* end) { return out.find("\n  " + name + end) != std::string::npos; };
  EXPECT_TRUE(words.empty() || has_example(" ") || has_example("\n")) << "no example:\n" << out;
  for (const auto& option : command["options"]) {
    EXPECT_NE(option["help"], "") << name << " " << option["name"];
    EXPECT_NE(out.find("  " + option["name"].get<std::string>()), std::string::npos) << name << " " << option["name"];
  }
  for (const auto& subcommand : command["subcommands"]) {
    words.push_back(subcommand["name"]);
    expect_help(subcommand, words);
    words.pop_back();
  }
}

TEST(Tool, GivesEverySubcommandADescriptionAndAnExample) { expect_help(listing(), {}); }

TEST(Tool, ExitsWithTwoWhenMisused) {
  expect_misuse(run_tool({}), "A subcommand is required (see priornet --help)");
  expect_misuse(run_tool({"measure"}), "LOGITS is required (see priornet measure --help)");
  expect_misuse(run_tool({"measure", "a.npy", "--kind", "other"}),
                "--kind: other not in {dirichlet,softmax,ensemble} (see priornet measure --help)");
  expect_misuse(run_tool({"detect", "--positive", "a.npy"}), "--negative is required (see priornet detect --help)");
}

// As a shell or a service manager expects it: a script ends with the command, and nobody takes the stop for a failure.
TEST(Tool, EndsByTheSignalThatStopsASubcommand) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto work = [signal] {
      tool::StoppableProgress progress;
      ::raise(signal);
      progress.report("work", 0, 2);
    };
    tool::Command command{"work", "Works until it is stopped"};
    command.run = [work](const tool::Invocation&) { work(); };
    EXPECT_EXIT(tool::run_tool({command}, {"work"}), ::testing::KilledBySignal(signal), "^$");
  }
}

TEST(Tool, EndsAtOnceByASecondSignalOfEitherKind) {
  for (const auto& [first, second] :
       {std::pair(SIGINT, SIGINT), std::pair(SIGINT, SIGTERM), std::pair(SIGTERM, SIGINT)}) {
    const auto interrupted = [first = first, second = second] {
      const tool::StopSignal stop;
      ::raise(first);
      EXPECT_TRUE(stop.caught());
      ::raise(second);
      std::_Exit(0);
    };
    EXPECT_EXIT(interrupted(), ::testing::KilledBySignal(second), "^$");
  }
}

}  // namespace
}  // namespace priornet
