#pragma once

#include <priornet/deploy/model_file.h>

namespace priornet {

/// The model that a run came to, not calibrated; called by the name of its folder. DataError as load_run() has it.
ModelFile model_of_run(const std::filesystem::path& folder, const torch::Device& device);

/// A model file, called as the file where it has no name, or the folder of a run.
ModelFile open_model(const std::filesystem::path& path, const torch::Device& device);

}  // namespace priornet
