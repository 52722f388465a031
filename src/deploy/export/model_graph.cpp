#include "deploy/export/model_graph.h"

#include <fmt/format.h>
#include <priornet/learning/training_sets.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "deploy/export/detector_graph.h"
#include "deploy/export/graph.h"
#include "deploy/export/measure_graph.h"
#include "learning/base/json_text.h"

namespace priornet::graph {
namespace {

class GraphWriter : public LayerWriter {
 public:
  using Handle = LayerWriter::Value;

  GraphWriter(const Network& network, Graph& graph, std::string prefix) : graph_(graph), prefix_(std::move(prefix)) {
    for (const auto& item : network.named_parameters()) names_[item.value().unsafeGetTensorImpl()] = item.key();
    for (const auto& item : network.named_buffers()) names_[item.value().unsafeGetTensorImpl()] = item.key();
  }

  graph::Value write(const Layer& layer, const graph::Value& x, bool drops) {
    drops_ = drops;
    label_ = layer.label();
    return at(layer.write(*this, x.index));
  }

  Handle convolution(Handle x, const torch::Tensor& weight, const torch::Tensor& bias, Window window) override {
    std::vector<graph::Value> operands = {at(x), weights(weight)};
    if (bias.defined()) operands.push_back(weights(bias));
    return apply("Conv", operands,
                 {{"kernel_shape", weight.sizes().slice(2).vec()},
                  {"pads", std::vector<int64_t>(4, window.padding)},
                  {"strides", std::vector<int64_t>(2, window.stride)}});
  }

  Handle batch_norm(Handle x, const BatchNorm& norm) override {
    return apply("BatchNormalization",
                 {at(x), weights(norm.weight), weights(norm.bias), weights(norm.mean), weights(norm.variance)},
                 {{"epsilon", norm.epsilon}});
  }

  Handle dense(Handle x, const torch::Tensor& weight, const torch::Tensor& bias) override {
    return apply("Gemm", {at(x), weights(weight), weights(bias)}, {{"transB", int64_t{1}}});
  }

  Handle rectifier(Handle x, double slope) override {
    if (slope == 1.0) return x;
    return slope == 0.0 ? apply("Relu", {at(x)}, {}) : apply("LeakyRelu", {at(x)}, {{"alpha", slope}});
  }

  Handle max_pool(Handle x, int64_t side, Window window) override {
    Attributes attributes = {{"kernel_shape", std::vector<int64_t>(2, side)},
                             {"strides", std::vector<int64_t>(2, window.stride)}};
    if (window.padding != 0) attributes["pads"] = std::vector<int64_t>(4, window.padding);
    return apply("MaxPool", {at(x)}, attributes);
  }

  Handle image_mean(Handle x) override {
    return apply("ReduceMean", {at(x)}, {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}});
  }

  Handle flatten(Handle x) override { return apply("Flatten", {at(x)}, {{"axis", int64_t{1}}}); }
  Handle scale(Handle x, double factor) override { return (at(x) * factor).index; }
  Handle add(Handle a, Handle b) override { return (at(a) + at(b)).index; }
  Handle smooth_at_least(Handle x, double least) override {
    const auto above = at(x) - least;
    return (graph_.apply("Relu", {above}) + log1p(exp(-abs(above))) + least).index;
  }

  // Not the operator Dropout: onnxruntime merges several that have the same input, and then all samples are the same.
  Handle dropout(Handle x, double keep) override {
    if (!drops_) return x;
    const auto kept = graph_.apply("RandomUniformLike", {at(x)}) < keep;
    return (at(x) * cast(kept, torch::kFloat32) / keep).index;
  }

 private:
  graph::Value at(Handle x) { return {&graph_, x}; }

  Handle apply(const char* operation, const std::vector<graph::Value>& operands, Attributes attributes) {
    return graph_.apply(operation, operands, std::move(attributes)).index;
  }

  graph::Value weights(const torch::Tensor& tensor) {
    const auto found = names_.find(tensor.unsafeGetTensorImpl());
    if (found == names_.end())
      throw ArgumentError(
          fmt::format("export: the layer \"{}\" writes a tensor that is not one of its modules'", label_));
    return graph_.tensor(prefix_ + found->second, tensor);
  }

  Graph& graph_;
  std::string prefix_;
  std::string label_;
  std::map<const c10::TensorImpl*, std::string> names_;
  bool drops_ = false;
};

const Network& network_of(const Classifier& classifier) {
  const auto* made_of_layers = dynamic_cast<const Network*>(&classifier);
  if (made_of_layers == nullptr)
    throw ArgumentError(
        fmt::format("export: only a network made of layers can be written for other runtimes, and {} is not: export it "
                    "with the framework that it comes from",
                    classifier.name()));
  return *made_of_layers;
}

}  // namespace

NetworkValues network_values(const Classifier& classifier, const Value& inputs, const NetworkOptions& options) {
  const auto& network = network_of(classifier);
  GraphWriter writer(network, *inputs.owner, options.prefix);
  const auto& plan = network.plan();
  NetworkValues result;
  if (options.dropout_samples == 0 || options.seen) {
    auto values = inputs;
    for (size_t i = 0; i < plan.layers(); ++i) {
      if (i + 1 == plan.layers() && network.gives_features()) result.features = values;
      values = writer.write(plan.layer(i), values, false);
      const auto& maps = network.seen_maps();
      if (options.seen && std::find(maps.begin(), maps.end(), i) != maps.end())
        result.layers.push_back(channel_moments(values));
    }
    if (options.dropout_samples == 0) result.logits = {values};
  }
  if (options.dropout_samples == 0) return result;
  const auto through = [&](Value values, size_t first, size_t end, bool drops) {
    for (size_t i = first; i < end; ++i) values = writer.write(plan.layer(i), values, drops);
    return values;
  };
  const auto fixed = through(inputs, 0, network.first_dropout(), false);
  for (int64_t s = 0; s < options.dropout_samples; ++s)
    result.logits.push_back(through(fixed, network.first_dropout(), plan.layers(), true));
  return result;
}

namespace {

// How many elements of a constant vector are at least each value, [N] to [N], as float64. For NaN none: NaN counts as
// rare.
Value count_at_least(const Value& vector, const Value& values) {
  return sum(cast(unsqueeze(values, 1) <= vector, torch::kFloat64), 1);
}

Value rarity_value(const Watch& watch, const std::string& name, const Value& score) {
  const auto reference = score.owner->tensor(name, watch.reference);
  const auto size = static_cast<double>(watch.reference.size(0));
  const auto last = watch.reference[-1].item<double>();
  const auto share = (size - count_at_least(reference, score - abs(score) * kTie)) / size;
  return share + at_least(score - last, 0.0) / spread_of(watch) + (watch.precedence - kTie);
}

DecisionValues decision_alike(const OperatingPoints& points, const std::vector<Value>& scores,
                              const std::string& prefix) {
  auto& graph = *scores.at(0).owner;
  std::vector<Value> rarities;
  for (size_t w = 0; w < scores.size(); ++w)
    rarities.push_back(rarity_value(points.watches[w], fmt::format("{}watch_{}.reference", prefix, w), scores[w]));
  auto rarest = rarities[0];
  for (const auto& rarity : rarities) rarest = where(rarity <= rarest, rarest, rarity);
  const auto size = static_cast<double>(points.rarities.size(0));
  const auto rarer = count_at_least(graph.tensor(prefix + "combined_rarities", points.rarities), rarest);
  DecisionValues decision;
  decision.p_value = (1.0 + rarer) / (size + 1.0);

  // A level that nothing can exceed must still be a number that files can hold.
  const auto level = std::min(rejection_level(points), std::numeric_limits<double>::max());
  auto cause = cast(rarest < -1.0, torch::kInt64);  // nothing is that rare: all 0
  const auto nobody = cause - 1.0;
  auto by = nobody;
  // Causes that take precedence are written last.
  for (const auto of : {Verdict::kAmbiguous, Verdict::kUndecided, Verdict::kUnfamiliar}) {
    auto spoke = nobody;
    auto loudest = graph.number(level, torch::kFloat64);
    for (size_t w = 0; w < rarities.size(); ++w) {
      if (points.watches[w].cause != of) continue;
      const auto quieter = rarities[w] <= loudest;
      spoke = where(quieter, spoke, static_cast<double>(w));
      loudest = where(quieter, loudest, rarities[w]);
    }
    if (spoke.index == nobody.index) continue;
    const auto silent = spoke < 0.0;
    cause = where(silent, cause, static_cast<double>(of));
    by = where(silent, by, spoke);
  }
  const auto accepted = decision.p_value > points.false_alarm;
  decision.verdict = where(accepted, 0.0, cause);
  decision.by = where(accepted, -1.0, by);
  return decision;
}

}  // namespace

DecisionValues decision_values(const OperatingPoints& points, const std::vector<Value>& scores,
                               const Value& prediction) {
  check_points(points);
  if (points.groups.empty()) return decision_alike(points, scores, "");
  auto& graph = *prediction.owner;
  DecisionValues decision;
  for (size_t g = 0; g < points.groups.size(); ++g) {
    const auto& group = points.groups[g];
    const auto here = decision_alike(points_of_group(points, group), scores, fmt::format("group_{}.", g));
    if (g == 0) {
      decision = here;
      continue;
    }
    const auto is = [&](int64_t one) {
      return equal(prediction, graph.number(static_cast<double>(one), torch::kInt64));
    };
    auto inside = is(group.classes.at(0));
    for (size_t c = 1; c < group.classes.size(); ++c) inside = either(inside, is(group.classes[c]));
    decision.p_value = where(inside, here.p_value, decision.p_value);
    decision.verdict = where(inside, here.verdict, decision.verdict);
    decision.by = where(inside, here.by, decision.by);
  }
  return decision;
}

namespace {

// As in FeatureScale. Not Clip: runtimes differ in what they do with NaN.
Value no_farther(const Value& rows, double farthest) {
  const auto below = where(rows > farthest, farthest, rows);
  return where(below < -farthest, -farthest, below);
}

Value with_tails_drawn_in(const Value& rows) {
  const auto distance = abs(rows);
  const auto is_far = distance > kTailsBegin;
  const auto tail = log(where(is_far, distance - kTailsBegin + 1.0, 1.0)) + kTailsBegin;
  return where(is_far, where(rows < 0.0, -tail, tail), rows);
}

// As the networks take them.
Value prepared_inputs(Graph& graph, const Preprocessing& preprocessing, ImageInput input) {
  if (!preprocessing.takes_images()) {
    const auto rows = graph.input("rows", torch::kFloat32, preprocessing.shape);
    const auto& scale = preprocessing.scale;
    if (!scale.defined()) return rows;
    const auto scaled =
        (rows - graph.tensor("features.mean", scale.mean)) / graph.tensor("features.deviation", scale.deviation);
    const auto limited = no_farther(scaled, kFarthestDeviations);
    return scale.drawn_in ? with_tails_drawn_in(limited) : limited;
  }
  if (input == ImageInput::kUnit) return graph.input("images", torch::kFloat32, preprocessing.shape) * 2.0 - 1.0;
  return cast(graph.input("images", torch::kUInt8, preprocessing.shape), torch::kFloat32) / 127.5 - 1.0;
}

std::string member_prefix(const ModelFile& model, size_t member) {
  return model.run.members.size() == 1 ? "network." : fmt::format("member_{}.", member + 1);
}

// What the networks of a model take and give.
struct ModelValues {
  Value inputs;  ///< as they take them
  Value logits;  ///< [N, K] for one network and one pass, else [M, N, K]
  NetworkValues first;
};

ModelValues model_values(Graph& graph, const ModelFile& model, ImageInput input) {
  ModelValues result;
  result.inputs = prepared_inputs(graph, model.preprocessing, input);
  std::vector<Value> logits;
  for (size_t m = 0; m < model.run.members.size(); ++m) {
    auto passes = network_values(*model.run.members[m], result.inputs,
                                 {model.dropout_samples, member_prefix(model, m), m == 0 && !model.detectors.empty()});
    logits.insert(logits.end(), passes.logits.begin(), passes.logits.end());
    if (m == 0) result.first = std::move(passes);
  }
  if (logits.size() == 1 && model.dropout_samples == 0) {
    result.logits = logits[0];
    return result;
  }
  for (auto& pass : logits) pass = unsqueeze(pass, 0);
  result.logits = concatenate(logits, 0);
  return result;
}

Value named(const NamedValues& scores, const std::string& name) {
  const auto found = std::find_if(scores.begin(), scores.end(), [&](const auto& one) { return one.first == name; });
  if (found == scores.end())
    throw ArgumentError(fmt::format("export: the model watches {}, which the exported graph cannot compute", name));
  return found->second;
}

// The measures, then the detectors.
NamedValues score_values(const ModelFile& model, const ModelValues& values, const Value& exact, int64_t passes) {
  const auto classes = static_cast<int64_t>(model.run.class_names.size());
  auto scores = measure_values(exact, model.run.gives_dirichlet(), passes, classes);
  if (model.detectors.empty()) return scores;
  SeenValues seen{.inputs = values.inputs,
                  .logits = exact,
                  .several = model.asks_several(),
                  .classes = classes,
                  .energy = named(scores, "energy"),
                  .features = values.first.features,
                  .layers = values.first.layers,
                  .from_features = {}};
  seen.from_features = [&](const Value& features) {
    const auto& network = network_of(*model.run.members[0]);
    GraphWriter writer(network, *features.owner, member_prefix(model, 0));
    return writer.write(network.plan().layer(network.plan().layers() - 1), features, false);
  };
  for (const auto& one : model.detectors) scores.emplace_back(one.name, detector_value(one, seen));
  return scores;
}

}  // namespace

void add_model(Graph& graph, const ModelFile& model, ImageInput input) {
  const auto classes = static_cast<int64_t>(model.run.class_names.size());
  const bool several = model.asks_several();
  const auto passes =
      several ? static_cast<int64_t>(model.run.members.size()) * std::max<int64_t>(model.dropout_samples, 1) : 0;
  for (const auto& one : model.detectors) check_exportable(one, classes);
  const auto values = model_values(graph, model, input);
  const auto& logits = values.logits;
  const auto exact = cast(logits, torch::kFloat64);
  const auto temperature = model.points ? model.points->temperature : 1.0;
  auto probabilities = softmax(exact / temperature);
  if (several) probabilities = mean(probabilities, 0);
  const auto scores = score_values(model, values, exact, passes);

  const auto prediction = largest_index(probabilities, -1);
  graph.output("prediction", prediction, {-1});
  graph.output("probability", largest(probabilities, -1), {-1});
  graph.output("probabilities", probabilities, {-1, classes});
  for (const auto& [name, value] : scores) graph.output(name, value, {-1});
  graph.output("logits", logits,
               several ? std::vector<int64_t>{passes, -1, classes} : std::vector<int64_t>{-1, classes});
  if (!model.points) return;
  std::vector<Value> watched;
  for (const auto& watch : model.points->watches) watched.push_back(named(scores, watch.measure));
  const auto decision = decision_values(*model.points, watched, prediction);
  graph.output("p_value", decision.p_value, {-1});
  graph.output("verdict", decision.verdict, {-1});
  graph.output("verdict_by", decision.by, {-1});
}

std::map<std::string, std::string> model_metadata(const ModelFile& model) {
  std::map<std::string, std::string> metadata = {
      {"name", model.name},
      {"class_names", json_text(nlohmann::json(model.run.class_names))},
      {"dropout_samples", std::to_string(model.dropout_samples)},
      {"members", std::to_string(model.run.members.size())},
      {"provenance", json_text(nlohmann::json(model.provenance))},
  };
  if (!model.preprocessing.feature_names.empty())
    metadata["feature_names"] = json_text(nlohmann::json(model.preprocessing.feature_names));
  if (!model.points) return metadata;
  metadata["verdict_names"] = json_text(nlohmann::json(kVerdictNames));
  std::vector<std::string> watches;
  for (const auto& watch : model.points->watches) watches.push_back(watch.measure);
  metadata["verdict_by_names"] = json_text(nlohmann::json(watches));
  metadata["false_alarm"] = fmt::format("{}", model.points->false_alarm);
  metadata["temperature"] = fmt::format("{}", model.points->temperature);
  return metadata;
}

}  // namespace priornet::graph
