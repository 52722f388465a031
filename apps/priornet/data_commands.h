#pragma once

#include <CLI/CLI.hpp>

// One file a subcommand of `priornet data`, as in command.h.

namespace priornet::tool {

void add_data_get(CLI::App& data);

}  // namespace priornet::tool
