#pragma once

#include <CLI/CLI.hpp>

// The subcommands of `priornet data`, one file each; see command.h.

namespace priornet::tool {

void add_data_list(CLI::App& data);
void add_data_get(CLI::App& data);
void add_data_verify(CLI::App& data);
void add_data_show(CLI::App& data);
void add_data_export(CLI::App& data);
void add_data_compare(CLI::App& data);
void add_data_synthesise(CLI::App& data);

}  // namespace priornet::tool
