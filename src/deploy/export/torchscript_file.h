#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "deploy/export/graph.h"

namespace priornet::graph {

/// Writes the graph as a module for torch::jit::load or torch.jit.load, forward(self, INPUT) -> Dict[str, Tensor],
/// whole or not at all; tensors are buffers of it, and the metadata, as JSON, its extra file metadata.json.
void write_torchscript(const std::filesystem::path& path, const Graph& graph,
                       const std::map<std::string, std::string>& metadata);

}  // namespace priornet::graph
