#pragma once

#include <priornet/deploy/export/graph.h>
#include <priornet/deploy/model_file.h>

namespace priornet::graph {

enum class ImageInput {
  kBytes,  ///< uint8, as image files have them
  kUnit    ///< float32 in [0, 1]
};

/// Adds a whole model: preprocessing, networks, measures, decision.
/// Input `images` [N, C, H, W], or `rows` float32 [N, D]. Outputs `prediction` int64 [N]; `probability` [N] and
/// `probabilities` [N, K], calibrated; each measure [N] by its name; `logits` float32 [N, K], or [M, N, K] of M members
/// and dropout samples; with operating points `p_value` [N] and `verdict` int64 [N]. Float64 unless said otherwise.
/// ArgumentError for a model that watches a measure the graph has not.
void add_model(Graph& graph, const ModelFile& model, ImageInput input);

/// What a file says beside the graph: class and verdict names, provenance, as texts or JSON.
std::map<std::string, std::string> model_metadata(const ModelFile& model);

}  // namespace priornet::graph
