#include <priornet/learning/detector.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/trained_run.h>
#include <priornet/learning/training_sets.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>

#include "learning/runs/detector_list.h"

namespace priornet {

void Detector::fit(const DetectorInputs&) {}

void Detector::keep(std::string name, torch::Tensor values) {
  std::erase_if(state_, [&](const NamedTensor& known) { return known.name == name; });
  state_.push_back({std::move(name), values.detach().contiguous()});
}

torch::Tensor Detector::part_or_none(std::string_view name) const {
  for (const auto& known : state_)
    if (known.name == name) return known.values;
  return {};
}

const torch::Tensor& Detector::part(std::string_view name) const {
  for (const auto& known : state_)
    if (known.name == name) return known.values;
  throw ArgumentError(fmt::format("detector: it is not fitted: it has no {}", name));
}

void Detector::set_state(std::vector<NamedTensor> state) {
  state_ = std::move(state);
  const auto wanted = parts();
  if (wanted.size() != state_.size())
    throw ArgumentError(
        fmt::format("detector: its state should have {} tensors, found {}", wanted.size(), state_.size()));
  for (const auto& [name, rank] : wanted) {
    const auto& values = part(name);
    if (values.dim() != rank || values.numel() == 0 || !values.is_floating_point() ||
        !values.isfinite().all().item<bool>())
      throw ArgumentError(fmt::format("detector: its {} should be finite numbers of rank {}", name, rank));
  }
  check_state();
}

void Detector::to(const torch::Device& device) {
  for (auto& known : state_) known.values = known.values.to(device);
}

namespace {

DetectorNeeds needing(bool DetectorNeeds::*what) {
  DetectorNeeds needs;
  needs.training = true;
  needs.*what = true;
  return needs;
}

std::vector<DetectorInfo> made_table() {
  std::vector<DetectorInfo> table;
  for (const auto& measure : measure_table()) {
    if (measure.direction == Direction::kNone || measure.name == "odin") continue;
    table.push_back({std::string(measure.name),
                     std::string(measure.label),
                     measure.direction,
                     measure.cause,
                     {},
                     [name = std::string(measure.name)] { return detectors::measure(name); },
                     true});
  }
  const auto features = needing(&DetectorNeeds::features);
  auto reshaped = features;
  reshaped.last_layer = true;
  const auto rows = needing(&DetectorNeeds::rows);
  constexpr auto kUp = Direction::kUncertainty;
  constexpr auto kOutside = Cause::kDistributional;
  table.insert(
      table.end(),
      {{"max_logit", "Max. logit, negated", kUp, Cause::kTotal, {}, detectors::max_logit},
       {"gen", "GEN", kUp, Cause::kTotal, {}, detectors::gen},
       {"odin", "ODIN", Direction::kConfidence, kOutside, {.gradients = true}, detectors::odin},
       {"react", "ReAct", kUp, kOutside, reshaped, detectors::react},
       {"ash", "ASH", kUp, kOutside, reshaped, detectors::ash},
       {"knn", "Nearest neighbours", kUp, kOutside, features, detectors::knn},
       {"mahalanobis", "Mahalanobis", kUp, kOutside, features, detectors::mahalanobis},
       {"mahalanobis_relative", "Relative Mahalanobis", kUp, kOutside, features, detectors::mahalanobis_relative},
       {"vim", "ViM", kUp, kOutside, features, detectors::vim},
       {"layers_mahalanobis", "Mahalanobis of maps inside", kUp, kOutside, needing(&DetectorNeeds::layers),
        detectors::layers_mahalanobis},
       {"image_statistics", "Image statistics", kUp, kOutside, needing(&DetectorNeeds::images),
        detectors::image_statistics},
       {"columns_mahalanobis", "Mahalanobis of columns", kUp, kOutside, rows, detectors::columns_mahalanobis},
       {"columns_shift", "Common shift of columns", kUp, kOutside, rows, detectors::columns_shift}});
  return table;
}

std::vector<DetectorInfo>& open_detectors() {
  static auto table = made_table();
  return table;
}

}  // namespace

const std::vector<DetectorInfo>& detector_table() { return open_detectors(); }

const DetectorInfo* find_detector(std::string_view name) {
  for (const auto& row : detector_table())
    if (row.name == name) return &row;
  return nullptr;
}

void register_detector(DetectorInfo info) {
  if (info.name.empty() || !info.make)
    throw ArgumentError("register_detector: a detector should have a name and a function that makes it");
  if (info.direction != Direction::kUncertainty)
    throw ArgumentError(fmt::format("register_detector: the score of {} should grow with strangeness", info.name));
  if (find_detector(info.name) != nullptr)
    throw ArgumentError(fmt::format("register_detector: the name {} is taken", info.name));
  open_detectors().push_back(std::move(info));
}

std::string why_not(const DetectorInfo& info, const Classifier& network) {
  const bool images = network.input_shape().size() == 3;
  if (info.needs.features && !network.gives_features()) return "it looks at features, which the network does not give";
  if (info.needs.layers && !network.gives_layers()) return "it looks at maps inside the network, which gives none";
  if (info.needs.rows && images) return "it looks at columns of numbers, and the network takes images";
  if (info.needs.images && !images) return "it looks at images, and the network takes rows of numbers";
  return "";
}

std::vector<std::string> usable_detectors(const Classifier& network, bool gradients) {
  std::vector<std::string> names;
  for (const auto& row : detector_table())
    if (!row.is_measure && (gradients || !row.needs.gradients) && why_not(row, network).empty())
      names.push_back(row.name);
  return names;
}

std::string why_not_without_network(const DetectorInfo& info, bool features) {
  const auto& needs = info.needs;
  if (needs.layers || needs.gradients || needs.last_layer) return "it needs the network, and there is none";
  if (needs.rows || needs.images) return "it looks at inputs, and there are only logits";
  if (needs.features && !features) return "it looks at features, and there are none";
  return "";
}

std::vector<std::string> usable_without_network(bool features) {
  std::vector<std::string> names;
  for (const auto& row : detector_table())
    if (!row.is_measure && why_not_without_network(row, features).empty()) names.push_back(row.name);
  return names;
}

std::vector<std::string> watched_detectors(const Classifier& network) {
  if (network.input_shape().size() != 3) return {"columns_mahalanobis", "columns_shift"};
  if (network.gives_layers()) return {"layers_mahalanobis"};
  return {network.gives_features() ? "knn" : "image_statistics"};
}

NamedDetector make_detector(const std::string& name) {
  const auto* info = find_detector(name);
  if (info == nullptr || info->is_measure) {
    std::vector<std::string> known;
    for (const auto& row : detector_table())
      if (!row.is_measure) known.push_back(row.name);
    throw ArgumentError(fmt::format("there is no detector {}: should be one of {}", name, fmt::join(known, ", ")));
  }
  return {name, info->make()};
}

bool need_layers(const std::vector<NamedDetector>& detectors) {
  return std::any_of(detectors.begin(), detectors.end(), [](const NamedDetector& one) {
    const auto* info = find_detector(one.name);
    return info != nullptr && info->needs.layers;
  });
}

namespace {

bool look_at_inputs(const std::vector<NamedDetector>& detectors) {
  return std::any_of(detectors.begin(), detectors.end(), [](const NamedDetector& one) {
    const auto& needs = find_detector(one.name)->needs;
    return needs.rows || needs.images;
  });
}

std::vector<NamedDetector> made(const std::vector<std::string>& names) {
  std::vector<NamedDetector> detectors;
  for (const auto& name : names) detectors.push_back(make_detector(name));
  return detectors;
}

void check_usable(const std::vector<std::string>& names, const Classifier& network) {
  for (const auto& name : names) {
    const auto* info = find_detector(name);
    const auto reason = info == nullptr ? "" : why_not(*info, network);
    if (!reason.empty()) throw ArgumentError(fmt::format("the detector {} cannot be used: {}", name, reason));
  }
}

}  // namespace

std::vector<NamedDetector> fit_detectors(const std::vector<std::string>& names,
                                         const std::vector<std::shared_ptr<Classifier>>& networks,
                                         const DetectorTraining& training, Progress& progress) {
  const torch::NoGradGuard no_gradient;
  check_usable(names, *networks.at(0));
  auto detectors = made(names);
  if (detectors.empty()) return detectors;
  const auto size = training.rows.defined() ? training.rows.size(0) : training.inputs.size(0);
  if (size < 2) throw ArgumentError(fmt::format("detectors are fitted on at least 2 inputs, found {}", size));
  constexpr int64_t kMostValues = int64_t{1} << 28;
  const bool inputs = look_at_inputs(detectors);
  auto count = std::min(size, kDetectorTraining);
  if (inputs) count = std::clamp<int64_t>(kMostValues / std::max<int64_t>(1, training.inputs[0].numel()), 2, count);
  auto generator = make_generator(derive_seed(training.seed, "training inputs of detectors"));
  const auto rows = torch::randperm(size, generator, torch::kInt64).narrow(0, 0, count);

  std::vector<torch::Tensor> batches;
  std::vector<torch::Tensor> features;
  std::vector<std::vector<torch::Tensor>> layers;
  AskOptions ask;
  ask.layers = need_layers(detectors);
  ask.on_batch = [&](int64_t done) { progress.report("detectors: training inputs", done, count); };
  ask.on_activations = [&](const torch::Tensor& batch, const Activations& seen) {
    if (inputs) batches.push_back(batch);
    if (seen.features.defined()) features.push_back(seen.features);
    layers.resize(seen.layers.size());
    for (size_t l = 0; l < layers.size(); ++l) layers[l].push_back(seen.layers[l]);
  };
  InferenceOptions options;
  options.batch = batch_suiting(device_of(*networks[0]));
  options.rows = training.rows.defined() ? training.rows.index_select(0, rows) : rows;
  DetectorInputs seen;
  seen.logits = logits_of_networks(networks, training.inputs, options, ask);
  if (networks.size() == 1) seen.logits = seen.logits[0];
  progress.report("detectors: training inputs", count, count);
  if (inputs) seen.inputs = torch::cat(batches);
  if (!features.empty()) seen.features = torch::cat(features);
  for (const auto& parts : layers) seen.layers.push_back(torch::cat(parts));
  seen.labels = training.labels.index_select(0, rows.to(training.labels.device())).to(seen.logits.device());
  seen.dirichlet = training.dirichlet;
  seen.networks = &networks;
  for (const auto& [name, detector] : detectors) detector->fit(seen);
  return detectors;
}

std::vector<NamedDetector> fit_detectors(const std::vector<std::string>& names, const DetectorInputs& training) {
  const torch::NoGradGuard no_gradient;
  auto detectors = made(names);
  for (const auto& [name, detector] : detectors) detector->fit(training);
  return detectors;
}

DetectorTraining training_of(const TrainedRun& run, Progress& progress) {
  const auto sets = load_training_sets(run.config, progress);
  if (!run.split.may_be_of(sets.split.content))
    throw DataError(fmt::format("{}: its rows have changed since the run was trained on it", run.config.train));
  const auto& train = sets.train;
  return {fit_to_run(train, run).inputs, train.labels, run.gives_dirichlet(),
          derive_seed(static_cast<uint64_t>(run.config.seed), "detectors"), train.rows};
}

std::vector<NamedDetector> fit_detectors(const std::vector<std::string>& names, const TrainedRun& run,
                                         Progress& progress) {
  if (names.empty()) return {};
  check_usable(names, *run.members.at(0));
  return fit_detectors(names, run.members, training_of(run, progress), progress);
}

bool judges_inputs_alone(const DetectorInfo& info) {
  const auto& needs = info.needs;
  return (needs.rows || needs.images) &&
         !(needs.features || needs.layers || needs.gradients || needs.last_layer || info.is_measure);
}

CrossValidation cross_validate(const std::vector<std::string>& names, const torch::Tensor& inputs,
                               const torch::Tensor& labels, int64_t parts) {
  const torch::NoGradGuard no_gradient;
  constexpr int64_t kLeast = 4;
  const auto size = inputs.size(0);
  if (size < kLeast || parts < 2)
    throw ArgumentError(
        fmt::format("cross_validate: should be given at least {} inputs in at least 2 parts, found {} "
                    "in {}",
                    kLeast, size, parts));
  const auto seen = [&](const torch::Tensor& rows) {
    DetectorInputs some;
    some.inputs = inputs.index_select(0, rows.to(inputs.device()));
    some.labels = labels.index_select(0, rows.to(labels.device()));
    return some;
  };
  CrossValidation result;
  for (const auto& [name, detector] : made(names)) {
    if (!judges_inputs_alone(*find_detector(name)))
      throw ArgumentError(fmt::format("cross_validate: {} looks at more than inputs", name));
    result.columns.push_back({name, torch::empty({size}, torch::kFloat64)});
  }
  const auto order =
      torch::randperm(size, make_generator(derive_seed(0, "parts of a cross-validation")), torch::kInt64);
  parts = std::min(parts, size / 2);
  for (int64_t p = 0; p < parts; ++p) {
    const auto part = order.slice(0, p, size, parts);
    auto left = torch::ones({size}, torch::kBool);
    left.index_fill_(0, part, false);
    const auto judges = fit_detectors(names, seen(left.nonzero().flatten()));
    const auto said = detector_columns(judges, seen(part));
    for (size_t d = 0; d < said.size(); ++d) result.columns[d].values.index_copy_(0, part, said[d].values);
  }
  result.detectors = fit_detectors(names, seen(torch::arange(size)));
  return result;
}

std::vector<NamedTensor> detector_columns(const std::vector<NamedDetector>& detectors, const DetectorInputs& batch) {
  std::vector<NamedTensor> columns;
  for (const auto& [name, detector] : detectors)
    columns.push_back({name, detector->score(batch).to(torch::kFloat64).to(torch::kCPU)});
  return columns;
}

DetectorPass::DetectorPass(const std::vector<NamedDetector>& detectors,
                           const std::vector<std::shared_ptr<Classifier>>& networks, bool dirichlet)
    : detectors_(detectors), networks_(networks), dirichlet_(dirichlet), parts_(detectors.size()) {}

void DetectorPass::join(AskOptions& ask) {
  if (detectors_.empty()) return;
  ask.layers = need_layers(detectors_);
  ask.on_activations = [this](const torch::Tensor& batch, const Activations& seen) {
    const auto scores = detector_columns(detectors_, {.inputs = batch,
                                                      .logits = seen.logits,
                                                      .features = seen.features,
                                                      .layers = seen.layers,
                                                      .dirichlet = dirichlet_,
                                                      .networks = &networks_});
    for (size_t d = 0; d < parts_.size(); ++d) parts_[d].push_back(scores[d].values);
  };
}

std::vector<NamedTensor> DetectorPass::columns() const {
  std::vector<NamedTensor> columns;
  for (size_t d = 0; d < parts_.size(); ++d)
    columns.push_back(
        {detectors_[d].name, parts_[d].empty() ? torch::empty({0}, torch::kFloat64) : torch::cat(parts_[d])});
  return columns;
}

}  // namespace priornet
