#include "learning/networks/packed_graph.h"

// Compiled where oneDNN is missing: networks compute layer by layer, with LibTorch's operations.

namespace priornet {

class PackedGraph::Programs {};

PackedGraph::PackedGraph() = default;
PackedGraph::~PackedGraph() = default;
bool PackedGraph::can_run(const std::vector<int64_t>&) { return false; }
torch::Tensor PackedGraph::run(const torch::Tensor& inputs, Value, const Made&) { return inputs; }
bool can_pack_networks() { return false; }

}  // namespace priornet
