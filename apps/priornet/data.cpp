#include "command.h"
#include "data_commands.h"

namespace priornet::tool {

void add_data(CLI::App& tool) {
  auto* data = tool.add_subcommand("data", "The data sets known by name");
  data->require_subcommand(1);
  add_data_get(*data);
}

}  // namespace priornet::tool
