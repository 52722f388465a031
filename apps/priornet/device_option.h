#pragma once

#include <torch/types.h>

#include <string>

namespace priornet::tool {

/// The device that --device auto, cpu or cuda means; auto is a GPU where there is one and this build has kernels for
/// it. Error where CUDA is asked for and not there.
torch::Device device_of_option(const std::string& name);

}  // namespace priornet::tool
