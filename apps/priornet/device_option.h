#pragma once

#include <torch/types.h>
#include <CLI/CLI.hpp>

#include <string>

namespace priornet::tool {

/// Adds --device auto|cpu|cuda.
void add_device_option(CLI::App& command, std::string& name, const std::string& what);

/// `auto` is a CUDA device where there is one. Error where `cuda` was asked for and there is none.
torch::Device chosen_device(const std::string& name);

}  // namespace priornet::tool
