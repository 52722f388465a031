#include "tool/commands/command.h"
#include "tool/commands/data_commands.h"

namespace priornet::tool {

void add_data(CLI::App& tool) {
  auto* data = tool.add_subcommand("data", "Data sets by name: what there is, whether it is whole, what it looks like");
  data->require_subcommand(1);
  add_data_list(*data);
  add_data_get(*data);
  add_data_verify(*data);
  add_data_show(*data);
  add_data_export(*data);
  add_data_compare(*data);
  add_data_synthesise(*data);
  data->footer(
      "Data sets lie below PRIORNET_DATA, else XDG_DATA_HOME/priornet, else ~/.local/share/priornet.\n\n"
      "Example:\n"
      "  priornet data list");
}

}  // namespace priornet::tool
