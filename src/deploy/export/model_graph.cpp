#include "deploy/export/model_graph.h"

#include <fmt/format.h>
#include <priornet/learning/training_sets.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "deploy/export/graph.h"
#include "deploy/export/measure_graph.h"
#include "learning/networks/stage_map.h"

namespace priornet::graph {
namespace {

Value rectified(const Value& x, double slope) {
  if (slope == kNoActivation) return x;
  return slope == 0.0 ? x.owner->apply("Relu", {x}) : x.owner->apply("LeakyRelu", {x}, {{"alpha", slope}});
}

class NetworkGraph {
 public:
  NetworkGraph(const Network& network, Graph& graph, std::string prefix) : graph_(graph), prefix_(std::move(prefix)) {
    for (const auto& item : network.named_parameters()) names_[item.value().unsafeGetTensorImpl()] = item.key();
    for (const auto& item : network.named_buffers()) names_[item.value().unsafeGetTensorImpl()] = item.key();
  }

  Value operator()(const StageMap& map, const Value& x, bool drops) {
    drops_ = drops;
    return std::visit([&](const auto& what) { return mapped(what, x); }, map.what);
  }

 private:
  Value mapped(const ScaleMap& map, const Value& x) { return x * map.factor; }
  Value mapped(const FlattenMap&, const Value& x) { return graph_.apply("Flatten", {x}, {{"axis", int64_t{1}}}); }

  Value mapped(const ImageMeanMap&, const Value& x) {
    return graph_.apply("ReduceMean", {x}, {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}});
  }

  Value mapped(const DropoutMap& map, const Value& x) {
    if (!drops_) return x;
    // Not the operator Dropout: onnxruntime takes several of the same input for one, and their samples for the same.
    const auto keep = 1.0 - map.layer->options.p();
    return x * cast(graph_.apply("RandomUniformLike", {x}) < keep, torch::kFloat32) / keep;
  }

  Value mapped(const DenseMap& map, const Value& x) {
    const auto values =
        graph_.apply("Gemm", {x, weights(map.layer->weight), weights(map.layer->bias)}, {{"transB", int64_t{1}}});
    return rectified(values, map.slope);
  }

  Value mapped(const ConvolutionMap& map, const Value& x) {
    const auto values = rectified(convolved(map, x), map.slope);
    if (!map.pooled) return values;
    const std::vector<int64_t> two = {2, 2};
    return graph_.apply("MaxPool", {values}, {{"kernel_shape", two}, {"strides", two}});
  }

  Value mapped(const ResidualMap& map, const Value& x) {
    const auto inner = convolved(map.second, mapped(map.first, x));
    const auto around = map.shortcut ? mapped(*map.shortcut, x) : x;
    return rectified(inner + around, map.second.slope);
  }

  // With its batch norm, before the activation.
  Value convolved(const ConvolutionMap& map, const Value& x) {
    const auto side = map.layer->weight.size(2);
    const auto stride = map.layer->options.stride()->at(0);
    std::vector<Value> operands = {x, weights(map.layer->weight)};
    if (map.layer->bias.defined()) operands.push_back(weights(map.layer->bias));
    const auto values = graph_.apply("Conv", operands,
                                     {{"kernel_shape", std::vector<int64_t>{side, side}},
                                      {"pads", std::vector<int64_t>(4, side / 2)},
                                      {"strides", std::vector<int64_t>{stride, stride}}});
    if (!map.norm) return values;
    const auto& norm = *map.norm;
    return graph_.apply(
        "BatchNormalization",
        {values, weights(norm.weight), weights(norm.bias), weights(norm.running_mean), weights(norm.running_var)},
        {{"epsilon", norm.options.eps()}});
  }

  Value weights(const torch::Tensor& tensor) {
    return graph_.tensor(prefix_ + names_.at(tensor.unsafeGetTensorImpl()), tensor);
  }

  Graph& graph_;
  std::string prefix_;
  std::map<const c10::TensorImpl*, std::string> names_;
  bool drops_ = false;
};

}  // namespace

std::vector<Value> network_logits(const Network& network, const Value& inputs, int64_t dropout_samples,
                                  const std::string& prefix) {
  NetworkGraph add(network, *inputs.owner, prefix);
  const auto maps = network.maps();
  size_t fixed = maps.size();
  if (dropout_samples > 0)
    for (fixed = 0; fixed < maps.size() && !std::holds_alternative<DropoutMap>(maps[fixed]->what);) ++fixed;
  auto values = inputs;
  for (size_t i = 0; i < fixed; ++i) values = add(*maps[i], values, false);
  if (dropout_samples == 0) return {values};
  std::vector<Value> samples;
  for (int64_t s = 0; s < dropout_samples; ++s) {
    auto sample = values;
    for (size_t i = fixed; i < maps.size(); ++i) sample = add(*maps[i], sample, true);
    samples.push_back(sample);
  }
  return samples;
}

namespace {

// How many of a constant vector are at least each value, [N] to [N], as float64. Of NaN none: it counts as rare.
Value count_at_least(const Value& vector, const Value& values) {
  return sum(cast(unsqueeze(values, 1) <= vector, torch::kFloat64), 1);
}

Value rarity_value(const Watch& watch, size_t index, const Value& score) {
  const auto reference = score.owner->tensor(fmt::format("watch_{}.reference", index), watch.reference);
  const auto size = static_cast<double>(watch.reference.size(0));
  const auto last = watch.reference[-1].item<double>();
  const auto share = (size - count_at_least(reference, score - abs(score) * kTie)) / size;
  return share + at_least(score - last, 0.0) / spread_of(watch) - kTie;
}

}  // namespace

DecisionValues decision_values(const OperatingPoints& points, const std::vector<Value>& scores) {
  check_points(points);
  auto& graph = *scores.at(0).owner;
  std::vector<Value> rarities;
  for (size_t w = 0; w < scores.size(); ++w) rarities.push_back(rarity_value(points.watches[w], w, scores[w]));
  auto rarest = rarities[0];
  for (const auto& rarity : rarities) rarest = where(rarity <= rarest, rarest, rarity);
  const auto size = static_cast<double>(points.combined.size(0));
  const auto rarer = count_at_least(graph.tensor("combined_rarities", points.combined), rarest);
  DecisionValues decision;
  decision.p_value = (1.0 + rarer) / (size + 1.0);

  // A level that nothing can exceed stays a number that files can hold.
  const auto level = std::min(rejection_level(points), std::numeric_limits<double>::max());
  auto cause = cast(rarest < -1.0, torch::kInt64);  // no rarity is: all 0
  // The causes named first are written last.
  for (const auto of : {Verdict::kAmbiguous, Verdict::kUndecided, Verdict::kUnfamiliar})
    for (size_t w = 0; w < rarities.size(); ++w)
      if (points.watches[w].cause == of)
        cause = where(rarities[w] <= graph.number(level, torch::kFloat64), cause, static_cast<double>(of));
  decision.verdict = where(decision.p_value > points.false_alarm, 0.0, cause);
  return decision;
}

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
