#pragma once

#include <priornet/deploy/model_export.h>
#include <priornet/deploy/model_file.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/decision.h>

#include "deploy/export/detector_graph.h"
#include "deploy/export/graph.h"

namespace priornet::graph {

struct NetworkOptions {
  int64_t dropout_samples = 0;
  std::string prefix;  ///< its tensors are named PREFIX + conv1.weight, say
  bool seen = false;   ///< whether features and layers are needed
};

struct NetworkValues {
  std::vector<Value> logits;  ///< float32 [N, K] each: one, or `dropout_samples` with dropout on from the first on
  /// From a pass without dropout, as in Classifier::activations.
  std::optional<Value> features;
  std::vector<Value> layers;
};

/// What the network gives for inputs as it takes them.
NetworkValues network_values(const Classifier& classifier, const Value& inputs, const NetworkOptions& options);

struct DecisionValues {
  Value p_value;  ///< float64 [N]
  Value verdict;  ///< int64 [N]: a Verdict
  Value by;       ///< int64 [N]: which watch rejected, from 0; -1 if none did
};

/// The rule of decide() (decision.h); `scores`: float64 [N], one per watch, in their order; `prediction`: int64 [N].
DecisionValues decision_values(const OperatingPoints& points, const std::vector<Value>& scores,
                               const Value& prediction);

/// Adds a whole model: preprocessing, networks, measures, detectors, decision.
/// Input `images` [N, C, H, W], or `rows` float32 [N, D]. Outputs `prediction` int64 [N]; `probability` [N] and
/// `probabilities` [N, K], calibrated; each measure and detector [N] by its name; `logits` float32 [N, K], or [M, N, K]
/// of M members and dropout samples; with operating points `p_value` [N], `verdict` and `verdict_by` int64 [N]. Float64
/// unless said otherwise. ArgumentError for a detector that no graph can hold, and for a model that watches what the
/// graph does not have.
void add_model(Graph& graph, const ModelFile& model, ImageInput input);

/// What a file says beside the graph: class and verdict names, provenance, as texts or JSON.
std::map<std::string, std::string> model_metadata(const ModelFile& model);

}  // namespace priornet::graph
