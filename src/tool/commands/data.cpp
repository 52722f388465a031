#include "tool/commands/subcommands.h"

namespace priornet::tool {

void describe_data(Command& command) {
#define PRIORNET_DESCRIBE(name, summary) \
  describe_data_##name(command.subcommands.emplace_back(Command{#name, summary}));
  PRIORNET_DATA_SUBCOMMANDS(PRIORNET_DESCRIBE)
#undef PRIORNET_DESCRIBE
  command.notes = "Data sets lie below PRIORNET_DATA, else XDG_DATA_HOME/priornet, else ~/.local/share/priornet.";
  command.examples = {"priornet data list"};
}

}  // namespace priornet::tool
