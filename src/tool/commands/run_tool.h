#pragma once

#include <string>
#include <vector>

#include "tool/commands/command.h"

namespace priornet::tool {

/// The body of main(): runs priornet with these subcommands and arguments (without the program's name). Returns the
/// exit status: 0 done, 1 failed, 2 misuse; a failure is one line on standard error. `--help-json`, which help does not
/// show, prints every subcommand and option for machines.
int run_tool(std::vector<Command> subcommands, const std::vector<std::string>& arguments);

}  // namespace priornet::tool
