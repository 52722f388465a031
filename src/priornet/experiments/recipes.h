#pragma once

#include <priornet/train/config.h>

#include <span>
#include <string_view>

// The configurations of the folder configs/, built in: an installed tool needs no source tree.

namespace priornet {

struct Recipe {
  std::string_view name;  ///< "mnist-dpn" for configs/mnist-dpn.toml
  std::string_view toml;
};

std::span<const Recipe> recipes();

/// The configuration of that name, changed by overrides ("training.epochs=3"). ConfigError for an unknown name, and as
/// read_config has it.
TrainConfig recipe(std::string_view name, const std::vector<std::string>& overrides = {});

}  // namespace priornet
