#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/deploy/export/decision_graph.h>
#include <priornet/deploy/export/measure_graph.h>
#include <priornet/deploy/export/model_graph.h>
#include <priornet/deploy/export/network_graph.h>
#include <priornet/train/standardise.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace priornet::graph {
namespace {

// As standardised_rows has it. Not Clip, of which runtimes differ in what becomes of NaN.
Value no_farther(const Value& rows, double farthest) {
  const auto below = where(rows > farthest, farthest, rows);
  return where(below < -farthest, -farthest, below);
}

// As the networks take them.
Value prepared_inputs(Graph& graph, const Preprocessing& preprocessing, ImageInput input) {
  if (!preprocessing.takes_images()) {
    const auto rows = graph.input("rows", torch::kFloat32, preprocessing.shape);
    if (!preprocessing.mean.defined()) return rows;
    const auto scaled = (rows - graph.tensor("features.mean", preprocessing.mean)) /
                        graph.tensor("features.deviation", preprocessing.deviation);
    return no_farther(scaled, kFarthestDeviations);
  }
  if (input == ImageInput::kUnit) return graph.input("images", torch::kFloat32, preprocessing.shape) * 2.0 - 1.0;
  return cast(graph.input("images", torch::kUInt8, preprocessing.shape), torch::kFloat32) / 127.5 - 1.0;
}

// [N, K] of one network asked once, else [M, N, K].
Value model_logits(Graph& graph, const ModelFile& model, ImageInput input) {
  const auto inputs = prepared_inputs(graph, model.preprocessing, input);
  std::vector<Value> logits;
  for (size_t m = 0; m < model.run.members.size(); ++m) {
    const auto prefix = model.run.members.size() == 1 ? std::string("network.") : fmt::format("member_{}.", m + 1);
    const auto passes = network_logits(*model.run.members[m], inputs, model.dropout_samples, prefix);
    logits.insert(logits.end(), passes.begin(), passes.end());
  }
  if (logits.size() == 1 && model.dropout_samples == 0) return logits[0];
  for (auto& pass : logits) pass = unsqueeze(pass, 0);
  return concatenate(logits, 0);
}

Value watched_value(const NamedValues& measures, const std::string& name) {
  const auto found = std::find_if(measures.begin(), measures.end(), [&](const auto& m) { return m.first == name; });
  if (found == measures.end())
    throw ArgumentError(fmt::format("export: the model watches {}, which the exported graph cannot compute", name));
  return found->second;
}

}  // namespace

void add_model(Graph& graph, const ModelFile& model, ImageInput input) {
  const auto classes = static_cast<int64_t>(model.run.class_names.size());
  const bool several = model.asks_several();
  const auto passes =
      several ? static_cast<int64_t>(model.run.members.size()) * std::max<int64_t>(model.dropout_samples, 1) : 0;
  const auto logits = model_logits(graph, model, input);
  const auto exact = cast(logits, torch::kFloat64);
  const auto temperature = model.points ? model.points->temperature : 1.0;
  auto probabilities = softmax(exact / temperature);
  if (several) probabilities = mean(probabilities, 0);
  const auto measures = measure_values(exact, model.run.gives_dirichlet(), passes, classes);

  graph.output("prediction", largest_index(probabilities, -1), {-1});
  graph.output("probability", largest(probabilities, -1), {-1});
  graph.output("probabilities", probabilities, {-1, classes});
  for (const auto& [name, value] : measures) graph.output(name, value, {-1});
  graph.output("logits", logits,
               several ? std::vector<int64_t>{passes, -1, classes} : std::vector<int64_t>{-1, classes});
  if (!model.points) return;
  std::vector<Value> watched;
  for (const auto& watch : model.points->watches) watched.push_back(watched_value(measures, watch.measure));
  const auto decision = decision_values(*model.points, watched);
  graph.output("p_value", decision.p_value, {-1});
  graph.output("verdict", decision.verdict, {-1});
}

std::map<std::string, std::string> model_metadata(const ModelFile& model) {
  std::map<std::string, std::string> metadata = {
      {"name", model.name},
      {"class_names", nlohmann::json(model.run.class_names).dump()},
      {"dropout_samples", std::to_string(model.dropout_samples)},
      {"members", std::to_string(model.run.members.size())},
      {"provenance", nlohmann::json(model.provenance).dump()},
  };
  if (!model.preprocessing.feature_names.empty())
    metadata["feature_names"] = nlohmann::json(model.preprocessing.feature_names).dump();
  if (!model.points) return metadata;
  metadata["verdict_names"] = nlohmann::json(kVerdictNames).dump();
  metadata["false_alarm"] = fmt::format("{}", model.points->false_alarm);
  metadata["temperature"] = fmt::format("{}", model.points->temperature);
  return metadata;
}

}  // namespace priornet::graph
