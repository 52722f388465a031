#pragma once

#include <priornet/learning/config.h>

#include <string>
#include <string_view>
#include <vector>

// The configurations of the folder configs/, built in: an installed tool needs no source tree.

namespace priornet {

/// The names of all: "mnist-dpn" for configs/mnist-dpn.toml.
std::vector<std::string> recipe_names();

/// The configuration of that name, changed by overrides ("training.epochs=3"). ConfigError for an unknown name, and as
/// read_config has it.
TrainConfig recipe(std::string_view name, const std::vector<std::string>& overrides = {});

}  // namespace priornet
