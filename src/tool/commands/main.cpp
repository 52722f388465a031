#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"

int main(int argc, char** argv) {
  using namespace priornet::tool;
  std::vector<Command> subcommands;
#define PRIORNET_DESCRIBE(name, summary) describe_##name(subcommands.emplace_back(Command{#name, summary}));
  PRIORNET_SUBCOMMANDS(PRIORNET_DESCRIBE)
#undef PRIORNET_DESCRIBE
  return run_tool(std::move(subcommands), {argv + 1, argv + argc});
}
