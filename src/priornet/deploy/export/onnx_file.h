#pragma once

#include <priornet/deploy/export/graph.h>

#include <filesystem>
#include <map>
#include <string>

namespace priornet::graph {

/// Writes the graph as an ONNX file of operator set 13, whole or not at all. ArgumentError for one of 2 GiB or more,
/// which protobuf cannot hold.
void write_onnx(const std::filesystem::path& path, const Graph& graph,
                const std::map<std::string, std::string>& metadata);

}  // namespace priornet::graph
