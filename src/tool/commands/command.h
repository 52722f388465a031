#pragma once

#include <CLI/CLI.hpp>

// One file a subcommand; each adds itself to the tool: its options, its help with an example, and the callback that
// runs it. A callback throws priornet::Error when it fails (exit 1) and CLI::ParseError for misuse (exit 2).

namespace priornet::tool {

void add_train(CLI::App& tool);
void add_evaluate(CLI::App& tool);
void add_calibrate(CLI::App& tool);
void add_predict(CLI::App& tool);
void add_measure(CLI::App& tool);
void add_detect(CLI::App& tool);
void add_reproduce(CLI::App& tool);
void add_report(CLI::App& tool);
void add_data(CLI::App& tool);
void add_export(CLI::App& tool);
void add_serve(CLI::App& tool);
void add_bench(CLI::App& tool);

}  // namespace priornet::tool
