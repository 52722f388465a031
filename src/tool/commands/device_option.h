#pragma once

#include <c10/core/Device.h>

#include <string>

#include "tool/commands/command.h"

namespace priornet::tool {

/// --device auto|cpu|cuda; `what` says what runs there.
Option device_option(std::string& name, const std::string& what);

/// --allow-torchscript: whether a run or model file that holds a network as a program is opened.
Option torchscript_option(bool& allowed);

/// `auto` is a CUDA device if there is one. Error if the user asked for `cuda` and there is none.
c10::Device chosen_device(const std::string& name);

}  // namespace priornet::tool
